"""Writes what is generated of the documentation.

The pages on rules come from the rules, the page and the JSON schema of the settings from the settings, and the output
shown in README.md from the command that stands beside it.

`python scripts/docs.py` writes it; `--check` writes nothing, names what is out of date and exits 1 where anything is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from llm_lsp import registry
from llm_lsp.registry import RuleEntry
from llm_lsp.rule import Bad, Good
from llm_lsp.settings import keys, schema

ROOT = Path(__file__).resolve().parent.parent
MOST_GOOD = 3
"""How many innocent programs a page shows: a rule lists the nearest ones first."""

_OUTPUT = re.compile(r"<!-- output of `(?P<command>[^`]+)` -->\n.*?<!-- end of output -->\n", re.DOTALL)
_FIXES = {"safe": "has a safe fix", "unsafe": "has an unsafe fix", "none": "has no fix"}


def pages() -> dict[Path, str]:
    """The generated files, each with its text."""
    entries = registry.entries()
    docs = ROOT / "docs"
    rules = docs / "rules"
    return {
        docs / "settings.md": settings_page(),
        ROOT / "llm-lint.schema.json": json.dumps(schema(), indent=2) + "\n",
        rules / "README.md": contents(entries),
        **{rules / f"{entry.name}.md": page(entry) for entry in entries},
        ROOT / "README.md": with_outputs((ROOT / "README.md").read_text(encoding="utf-8")),
    }


def contents(entries: tuple[RuleEntry, ...]) -> str:
    """The table of all rules."""
    rows = [
        f"| [{entry.code}]({entry.name}.md) | {entry.name} | {severity(entry)} | {entry.fix} | {first_line(entry)} |\n"
        for entry in entries
    ]
    return (
        "# Rules\n\n"
        "<!-- Written by scripts/docs.py from the rules themselves. -->\n\n"
        "A code never changes its meaning. *error*: it raises, or the result is wrong; *warning*: silently costly or\n"
        "fragile; *information*: worth knowing; *off*: runs only when it is selected. `llm-lint rule CODE` says the\n"
        "same in the terminal.\n\n"
        "| code | name | severity | fix | reports |\n| --- | --- | --- | --- | --- |\n" + "".join(rows)
    )


def page(entry: RuleEntry) -> str:
    """The page on one rule: what it says of itself, and the examples that prove it."""
    parts = [
        f"# {entry.name} ({entry.code})\n\n",
        "<!-- Written by scripts/docs.py from the rule itself. -->\n\n",
        f"{severity(entry)}, {_FIXES[entry.fix]}\n\n",
        registry.explanation(entry).rstrip() + "\n",
    ]
    if not entry.is_builtin:
        rule = registry.load(entry)
        if rule.bad:
            parts += ["\n## Reported\n", *example(rule.bad[0])]
            if rule.bad[0].fixed is not None:
                parts += ["\n## After the fix\n", *programs(rule.bad[0].fixed)]
        if rule.good:
            parts += ["\n## Not reported\n"]
            parts += [text for good in rule.good[:MOST_GOOD] for text in example(good)]
        parts.append(f"\n## To silence it\n\n`# noqa: {entry.code}` at the end of the line, ")
        parts.append(f'or `ignore = ["{entry.code}"]` in the settings.\n')
    return "".join(parts)


def settings_page() -> str:
    """The reference of the settings."""
    head = (
        "# Settings\n\n"
        "<!-- Written by scripts/docs.py from llm_lsp/settings.py. -->\n\n"
        "In `[tool.llm-lint]` of a `pyproject.toml`, or at the top level of an `llm-lint.toml`. The nearest file above\n"
        "each source file counts; `--config` names another one, `--isolated` means none.\n"
    )
    parts = [head]
    for key in keys():
        parts += [f"\n## {key.name}\n\n", textwrap.fill(key.description, 120), "\n\n", f"Type: {key.kind.words}\n"]
        if key.default is not None:
            parts.append(f"\nDefault:{default(key.default)}\n")
    return "".join(parts)


def default(value: object) -> str:
    """A default as it would be written in TOML; a long list one entry a line."""
    if value == {}:
        return " an empty table"
    if isinstance(value, bool | int | str):
        return f" `{json.dumps(value)}`"
    text = json.dumps(value)
    return f" `{text}`" if len(text) <= 100 else f"\n\n```toml\n{json.dumps(value, indent=4)}\n```"


def severity(entry: RuleEntry) -> str:
    return entry.severity.value if entry.default else f"{entry.severity.value}, off by default"


def first_line(entry: RuleEntry) -> str:
    return registry.explanation(entry).partition("\n")[0].replace("|", "\\|")


def example(example: Bad | Good) -> Iterator[str]:
    """The programs of an example, after what it takes for granted."""
    if example.versions:
        stated = ", ".join(f"`{name} {version}`" for name, version in example.versions.items())
        yield f"\nWith {stated}:\n"
    yield from programs(example.code)


def programs(code: str | Mapping[str, str | list[str]]) -> Iterator[str]:
    """One file as a block, several ones with their names; the cells of a notebook one after the other."""
    if isinstance(code, str):
        yield block(code)
        return
    for name, text in code.items():
        yield f"\n`{name}`:\n"
        yield from map(block, [text] if isinstance(text, str) else text)


def block(text: str) -> str:
    return f"\n```python\n{textwrap.dedent(text).strip()}\n```\n"


def with_outputs(text: str) -> str:
    """The text, with every marked output as the command gives it now."""
    return _OUTPUT.sub(_run_again, text)


def _run_again(match: re.Match[str]) -> str:
    command = match["command"]
    program, *arguments = command.split()
    if program != "llm-lint":
        raise ValueError(f"README.md: only llm-lint is run for its output, not `{program}`")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("LLM_LINT_")}
    done = subprocess.run(
        [sys.executable, "-m", "llm_lsp", *arguments],
        cwd=ROOT,
        env=variables | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    if done.returncode not in (0, 1) or "LLM002" in done.stdout:
        raise ValueError(f"README.md: `{command}` exits {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return f"<!-- output of `{command}` -->\n\n```\n{done.stdout.rstrip()}\n```\n\n<!-- end of output -->\n"


def stale(wanted: Mapping[Path, str]) -> list[str]:
    """The generated files that are not as they should be, and those that should not be there."""
    different = [
        path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    left_over = [path for path in (ROOT / "docs" / "rules").glob("*.md") if path not in wanted]
    return sorted(path.relative_to(ROOT).as_posix() for path in [*different, *left_over])


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 where a page is out of date")
    arguments = parser.parse_args()
    wanted = pages()
    names = stale(wanted)
    if arguments.check:
        for name in names:
            print(f"{name} is out of date: run `make docs`", file=sys.stderr)
        return int(bool(names))
    for name in names:
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path in wanted:
            path.write_text(wanted[path], encoding="utf-8", newline="\n")
        else:
            path.unlink()
        print(f"wrote {name}" if path in wanted else f"removed {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
