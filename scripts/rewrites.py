"""Whether programs that mean the same get the same diagnostics.

    python scripts/rewrites.py --only LLM301

Programs with faults (the bad cases, `examples/`, the rules' own examples) are written in another way, one change at a
time: a name, an import, a statement made a function, a function moved into a class, a script put under a guard. Every
diagnostic should still be there. Prints how many were kept and lost, by rule and rewrite, and each loss.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from llm_lsp import registry
from llm_lsp.diagnostic import Diagnostic
from scripts.linting import PACK, Linter
from scripts.rewriting import names, structure

ROOT = Path(__file__).resolve().parent.parent

Maker = Callable[[ast.Module, list[int]], Iterator[tuple[str, ast.Module]]]


def _ignoring_rows(maker: Callable[[ast.Module], Iterator[tuple[str, ast.Module]]]) -> Maker:
    def ignoring(tree: ast.Module, rows: list[int]) -> Iterator[tuple[str, ast.Module]]:
        del rows
        return maker(tree)

    return ignoring


MAKERS: dict[str, Maker] = {
    "local renamed": _ignoring_rows(names.renamed_locals),
    "function renamed": _ignoring_rows(names.renamed_functions),
    "attribute renamed": _ignoring_rows(names.renamed_attributes),
    "import aliased": _ignoring_rows(names.import_aliases),
    "module imported": _ignoring_rows(names.module_imports),
    "passed by name": _ignoring_rows(names.keyword_arguments),
    "function extracted": structure.extracted,
    "moved into class": _ignoring_rows(structure.moved_into_class),
    "moved into instance": _ignoring_rows(structure.moved_into_instance),
    "guarded": _ignoring_rows(structure.guarded),
    "unguarded": _ignoring_rows(structure.unguarded),
}


class Original(NamedTuple):
    """A program with faults."""

    name: str
    path: Path
    """Whose place it takes, for the modules beside it."""
    tree: ast.Module


class Rewritten(NamedTuple):
    """What became of the diagnostics of one rule in one rewritten program."""

    code: str
    rewrite: str
    program: str
    what: str
    before: int
    after: int
    text: str

    @property
    def is_kept(self) -> bool:
        return self.after == self.before


def originals() -> Iterator[Original]:
    """The programs to rewrite: those that stand in one file, in a stable order."""
    paths = [*sorted((ROOT / "tests" / "cases").glob("*/bad.py")), *sorted((ROOT / "examples").glob("*/**/*.py"))]
    for path in paths:
        yield Original(path.relative_to(ROOT).as_posix(), path, ast.parse(path.read_text(encoding="utf-8")))
    for entry in registry.scan(PACK):
        for number, example in enumerate(type(registry.load(entry)).bad):
            if isinstance(example.code, str) and not example.versions and not example.checkpoints:
                name = f"{entry.name}, example {number + 1}"
                yield Original(name, ROOT / "example.py", ast.parse(example.code))


def rewritten(linter: Linter, original: Original) -> Iterator[Rewritten]:
    """Every rewrite of a program, by the rules that report something in it; none where they report nothing."""
    plain = ast.unparse(original.tree)
    before = linter.diagnostics(original.path, plain)
    if not before:
        return
    tree = ast.parse(plain)
    rows = [diagnostic.location.range.start.row for diagnostic in before]
    for rewrite, maker in MAKERS.items():
        for what, changed in maker(tree, rows):
            text = ast.unparse(changed)
            after = _counts(linter.diagnostics(original.path, text))
            for code, number in sorted(_counts(before).items()):
                yield Rewritten(code, rewrite, original.name, what, number, after[code], text)


def _counts(diagnostics: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(diagnostic.code for diagnostic in diagnostics)


def table(results: Iterable[Rewritten]) -> str:
    """How many programs kept their diagnostics, by rule and rewrite, as a Markdown table."""
    made: Counter[tuple[str, str]] = Counter()
    kept: Counter[tuple[str, str]] = Counter()
    for result in results:
        for rewrite in (result.rewrite, "all"):
            made[result.code, rewrite] += 1
            kept[result.code, rewrite] += result.is_kept
    lines = ["| rule | rewrite | programs | kept | lost |", "| --- | --- | ---: | ---: | ---: |"]
    for code, rewrite in sorted(made, key=lambda key: (key[0], key[1] != "all", key[1])):
        number, same = made[code, rewrite], kept[code, rewrite]
        lines.append(f"| {code} | {rewrite} | {number} | {same} | {number - same} |")
    return "\n".join(lines)


def main() -> int:
    """Rewrite the programs, lint them, print what was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="CODES", help="rules, separated by commas")
    parser.add_argument("--of", metavar="WORD", default="", help="only of programs whose name contains this")
    parser.add_argument("--show", action="store_true", help="print the programs that lost something")
    parser.add_argument("--json", action="store_true", help="one object for each rule in each rewritten program")
    options = parser.parse_args()
    linter = Linter(options.only.split(",") if options.only else None)
    results = [
        result for original in originals() if options.of in original.name for result in rewritten(linter, original)
    ]
    if options.json:
        print(json.dumps([result._asdict() for result in results], indent=1))
        return 0
    for result in results:
        if not result.is_kept:
            print(f"{result.program}: {result.code} {result.before} -> {result.after}: {result.rewrite}: {result.what}")
            if options.show:
                print("\n".join(f"    {row}" for row in result.text.split("\n")))
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
