"""Writes the index of the built-in rule pack, from which `check` knows the rules without importing them.

`python scripts/index_rules.py` writes it, `--check` says whether it is current and exits 1 where it is not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from llm_lsp import registry
from llm_lsp.registry import RuleEntry
from llm_lsp.testing import fix_of

PACKAGE = "llm_lsp_rules"
INDEX = Path(__file__).resolve().parent.parent / "rules" / PACKAGE / "index.py"

HEADER = '''"""What is known of every rule before it is imported; written by scripts/index_rules.py, never by hand.

A row: code, name, category, severity, on by default, triggers, supersedes, fix, module, class.
"""

from __future__ import annotations

RULES: tuple[tuple[str, str, str, str, bool, tuple[str, ...], tuple[str, ...], str, str, str], ...] = (
'''


def index() -> str:
    """The text of the index, as the rules are now."""
    return HEADER + "".join(_row(entry) for entry in registry.scan(PACKAGE)) + ")\n"


def _row(entry: RuleEntry) -> str:
    rule = type(registry.load(entry))
    cells = (
        _quoted(entry.code),
        _quoted(entry.name),
        _quoted(entry.category),
        _quoted(entry.severity.value),
        repr(entry.default),
        _tuple(entry.triggers),
        _tuple(entry.supersedes),
        _quoted(fix_of(rule)),
        _quoted(entry.module),
        _quoted(entry.class_name),
    )
    return "    (\n" + "".join(f"        {cell},\n" for cell in cells) + "    ),\n"


def _tuple(words: tuple[str, ...]) -> str:
    line = "(" + ", ".join(map(_quoted, words)) + ("," if len(words) == 1 else "") + ")"
    if len(line) + 9 <= 120:
        return line
    return "(\n" + "".join(f"            {_quoted(word)},\n" for word in words) + "        )"


def _quoted(word: str) -> str:
    """As the formatter writes a string: double quotes, unless that costs a backslash."""
    return repr(word) if '"' in word or "\\" in word else f'"{word}"'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 where the index is out of date")
    arguments = parser.parse_args()
    text = index()
    if INDEX.is_file() and INDEX.read_text(encoding="utf-8") == text:
        return 0
    if arguments.check:
        print(f"{INDEX.name} of {PACKAGE} is out of date: run `python scripts/index_rules.py`", file=sys.stderr)
        return 1
    INDEX.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {INDEX.name} of {PACKAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
