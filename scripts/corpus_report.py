"""Writes docs/corpus.md: what llm-lint reports on published packages, what it finds in mutants, and what it misses.

    python scripts/corpus_report.py           write the page (minutes)
    python scripts/corpus_report.py --check   write nothing; exit 1 where a report or a miss was not looked at

The numbers are measured; that each report is right, and why each miss is one, is what people say in
`data/corpus/reports.csv` and `data/corpus/misses.csv`. A line there names a place in a pinned version.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from scripts import corpus, mutants
from scripts.linting import Linter

ROOT = corpus.ROOT
PAGE = ROOT / "docs" / "corpus.md"
REPORTS = ROOT / "data" / "corpus" / "reports.csv"
MISSES = ROOT / "data" / "corpus" / "misses.csv"

UNSEEN = "**not looked at yet**"

INTRODUCTION = """\
# Real code

Written by `scripts/corpus_report.py`. The packages are fetched by `scripts/corpus.py`, at pinned versions, and read,
never imported; every rule that is on by default runs, and nothing is said about the versions of libraries.
"""

MUTANTS = """\
## What the rules find

Silence on good code proves nothing by itself. `scripts/mutants.py` takes one thing away from code that is right, a
`no_grad` block, a seed, a look at a length, the one right id, or puts one fault in: a loss scaler around a loop that
clips, tokens that nobody makes rows for, a sum of losses, a sampling temperature of zero. Its places are the packages above, the programs in their
docstrings and in those of transformers, `examples/`, and the good twins of `tests/cases/`. A mutant is caught if the
rule reports a place within what was changed that it did not report before. Changes that are no fault are not made:
`scripts/mutation/` says which, and why.

Training loops are rare in libraries: for the rules on training (LLM211, LLM302 to LLM308, LLM401 to LLM407, LLM601), and for
LLM103, LLM107, LLM310 and LLM901, nearly all places are programs of `tests/cases/`; LLM103 and LLM310 have no more than five
each. Tests are changed for the rules on tokenizers, labels, classes, sampling and scalers only: a test keeps little, is not
repeated by hand, and tries precisions on purpose.
"""

MISSED = """\
## What they miss

Every mutant that is not caught, by the reason.
"""


class Report(NamedTuple):
    """One diagnostic on the corpus."""

    package: str
    is_test: bool
    path: str
    row: int
    code: str
    severity: str
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.path, str(self.row), self.code)


def reports(linter: Linter, cache: Path) -> Iterator[Report]:
    """What is reported in the packages and their tests."""
    for file in corpus.files(cache):
        if file.part == "docstrings":
            continue
        for diagnostic in linter.diagnostics(file.path):
            yield Report(
                file.package,
                file.is_test,
                file.path.relative_to(cache).as_posix(),
                diagnostic.location.range.start.row,
                diagnostic.code,
                diagnostic.severity.value,
                diagnostic.message,
            )


def judged(path: Path) -> dict[tuple[str, str, str], str]:
    """What people said: by path, row and rule."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as table:
        return {(row["path"], row["row"], row["code"]): row["judgement"] for row in csv.DictReader(table)}


def counts(found: Iterable[Report], cache: Path, codes: Iterable[str]) -> str:
    """Files, lines, and diagnostics by package and rule."""
    sizes: Counter[tuple[str, str]] = Counter()
    for file in corpus.files(cache):
        if file.part != "docstrings":
            sizes[file.package, "files"] += 1
            sizes[file.package, "lines"] += file.path.read_bytes().count(b"\n")
    numbers = Counter((report.package, report.code, report.is_test) for report in found)
    columns = sorted(code for code in codes if int(re.sub(r"\D", "", code)) > 100)
    lines = [
        f"| package | files | lines | {' | '.join(columns)} |",
        f"| --- | ---: | ---: |{' ---: |' * len(columns)}",
    ]
    for package in corpus.PACKAGES:
        if package.parts == ("docstrings",):
            continue
        cells = [f"{numbers[package.name, code, False]} + {numbers[package.name, code, True]}" for code in columns]
        size = f"{sizes[package.name, 'files']} | {sizes[package.name, 'lines']:,}"
        lines.append(f"| {package.name} {package.version} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def report_table(found: Iterable[Report]) -> str:
    """Each report with the judgement."""
    said = judged(REPORTS)
    lines = ["| place | rule | message | judgement |", "| --- | --- | --- | --- |"]
    for report in found:
        place = f"`{report.path}:{report.row}`"
        judgement = said.get(report.key, UNSEEN)
        lines.append(f"| {place} | {report.code} {report.severity} | {_cell(report.message)} | {_cell(judgement)} |")
    return "\n".join(lines)


def miss_table(results: Iterable[mutants.Result]) -> str:
    """The misses by rule and reason, with their places."""
    said = judged(MISSES)
    places: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if not result.is_caught:
            row = str(result.mutant.changed[0])
            path = result.path.removeprefix(".cache/corpus/")
            reason = said.get((path, row, result.mutant.code), UNSEEN)
            places.setdefault((result.mutant.code, reason), []).append(f"`{path}:{row}`")
    lines = ["| rule | misses | reason | places |", "| --- | ---: | --- | --- |"]
    for (code, reason), where in sorted(places.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1])):
        shown = ", ".join(where[:4]) + (" ..." if len(where) > 4 else "")
        lines.append(f"| {code} | {len(where)} | {_cell(reason)} | {shown} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def page(cache: Path) -> str:
    """The whole page."""
    linter = Linter()
    found = list(reports(linter, cache))
    results = list(mutants.run(linter, mutants.places(cache), linter.codes, None))
    parts = [
        INTRODUCTION,
        "## What is reported\n",
        f"Counts in the package itself + in its tests; crashes: {len(linter.crashes)}.\n",
        counts(found, cache, linter.codes) + "\n",
        report_table(found) + "\n",
        MUTANTS,
        mutants.table(results) + "\n",
        MISSED,
        miss_table(results),
    ]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write the page, or say what is left to be looked at."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--cache", type=Path, default=corpus.CACHE, help="the corpus (default: .cache/corpus)")
    options = parser.parse_args()
    absent = corpus.missing(options.cache)
    if absent:
        print(f"{absent[0].folder} is missing: run `python scripts/corpus.py` first", file=sys.stderr)
        return 2
    text = page(options.cache)
    if not options.check:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    left = text.count(UNSEEN)
    if left:
        print(f"{left} lines were not looked at yet", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
