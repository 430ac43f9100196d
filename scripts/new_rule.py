"""Starts a rule: `python scripts/new_rule.py CATEGORY NAME`, for instance `memory cache-on-module`.

The new file fails its own proof until it reports what its first example marks.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from llm_lsp import registry

RULES = Path(__file__).resolve().parent.parent / "rules" / "llm_lsp_rules"
CENTURIES = {
    "tokenizer": 1,
    "generation": 2,
    "precision": 3,
    "memory": 3,
    "training": 4,
    "model": 4,
    "reproducibility": 5,
    "data": 5,
    "distributed": 6,
    "checkpoint": 7,
    "security": 7,
    "migration": 8,
    "serving": 9,
    "leftovers": 9,
}
"""The first digit of the codes of each category."""

TEMPLATE = '''"""{code} {name}."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import Bad, Facts, Good, Report, Rule, Severity


class {class_name}(Rule):
    """Say what is wrong, in one sentence.

    Say what happens then, how a person notices, and what to do; first the reason, then the mechanism.
    """

    code = "{code}"
    severity = Severity.WARNING
    triggers = ("torch",)
    bad = [
        Bad(
            """\\
import torch

torch.the_fault()  # <- words of the message
""",
            fixed="""\\
import torch

torch.the_repair()
""",
        ),
    ]
    good = [
        Good("""\\
import torch

torch.the_repair()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        """Ask the facts, and yield `self.report(place, "words of the message")`."""
        yield from ()
'''


class RefusedError(Exception):
    """The rule can't be started; the message says why."""


def create(rules: Path, category: str, name: str, taken: Iterable[str], code: str | None = None) -> Path:
    """Write the new rule's file and return its path.

    Args:
        rules: the folder of the built-in pack.
        category: one of CENTURIES.
        name: the bad pattern, as a rule's name or as a module's.
        taken: codes and names besides those of the files in `rules`.
        code: the next free one of the category where it is None.
    """
    name = name.replace("_", "-")
    taken = {*taken, *_written(rules)}
    if category not in CENTURIES:
        raise RefusedError(f"there is no category `{category}`; choose one of {', '.join(CENTURIES)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", name):
        raise RefusedError(f"`{name}` is no name for a rule: two words or more, as in `half-on-cpu`")
    if code is None:
        code = next_free(category, taken)
    if not re.fullmatch(rf"LLM{CENTURIES[category]}\d\d", code):
        raise RefusedError(f"the codes of `{category}` are LLM{CENTURIES[category]}00 to LLM{CENTURIES[category]}99")
    for word in (code, name):
        if word in taken:
            raise RefusedError(f"`{word}` is taken; a code never changes its meaning")
    folder = rules / category
    folder.mkdir(exist_ok=True)
    package = folder / "__init__.py"
    if not package.exists():
        package.write_text("", encoding="utf-8")
    path = folder / f"{name.replace('-', '_')}.py"
    class_name = name.title().replace("-", "")
    path.write_text(TEMPLATE.format(code=code, name=name, class_name=class_name), encoding="utf-8", newline="\n")
    return path


def _written(rules: Path) -> Iterator[str]:
    """The codes and names of all rules that were started, finished or not: the index knows the finished ones only."""
    for path in rules.glob("*/*.py"):
        for code in re.findall(r'^    code = "(LLM\d+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            yield from (code, path.stem.replace("_", "-"))


def next_free(category: str, taken: Iterable[str]) -> str:
    """The code after the highest one of the category's century."""
    prefix = f"LLM{CENTURIES[category]}"
    numbers = [int(word[4:]) for word in taken if re.fullmatch(rf"{prefix}\d\d", word)]
    return f"{prefix}{max(numbers, default=0) + 1:02}"


def main() -> int:
    """Write the file and say what comes next."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("category", help=", ".join(CENTURIES))
    parser.add_argument("name", help="the bad pattern, readable after 'allow': clip-before-unscale")
    parser.add_argument("--code", help="instead of the next free one")
    options = parser.parse_args()
    taken = [word for entry in registry.entries() for word in (entry.code, entry.name)]
    try:
        path = create(RULES, options.category, options.name, taken, options.code)
    except RefusedError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"wrote {path.relative_to(RULES.parent.parent).as_posix()}; what comes next is in CONTRIBUTING.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
