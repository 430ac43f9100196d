"""Programs as people write them: what is wrong in the bad ones is found, the good ones are left alone.

Each folder of `tests/cases/` holds a program with a fault and its repaired twin, made after a public report or for
this project; `meta.json` says where the fault is. The good twins of themes that no rule covers yet are there too, for
the rules that there are must be silent on them.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from llm_lsp.diagnostic import Diagnostic, Severity
from scripts.linting import Linter

CASES = Path(__file__).parent / "cases"
NEAR = 2
"""A report so many rows from the expected one still shows it."""
LONGEST = 6
"""A range of more rows than this shows nothing in particular."""


@cache
def linter() -> Linter:
    return Linter()


@cache
def codes_of(theme: str) -> frozenset[str]:
    with (CASES / "themes.csv").open(encoding="utf-8", newline="") as table:
        codes = {row["theme"]: row["codes"].split() for row in csv.DictReader(table)}
    return frozenset(codes[theme])


def case(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return content


def folders() -> Iterator[Path]:
    yield from sorted(path.parent for path in CASES.glob("*/meta.json"))


def diagnostics(files: list[str], folder: Path, alone: Path) -> dict[str, list[Diagnostic]]:
    """What is reported in each file, in a copy that nothing else lies beside: a case stands for itself."""
    shutil.copytree(folder, alone, dirs_exist_ok=True)
    (alone / "setup.cfg").touch()
    return {name: linter().diagnostics(alone / name) for name in files}


def shows(diagnostic: Diagnostic, place: dict[str, Any]) -> bool:
    if "cell" in place and diagnostic.location.cell != place["cell"] + 1:
        return False
    row: int = place["line_in_cell"] if "cell" in place else place["line"]
    first, last = diagnostic.location.range.start.row, diagnostic.location.range.end.row
    return abs(first - row) <= NEAR or (first <= row <= last and last - first < LONGEST)


def bad_cases() -> Iterator[Any]:
    for folder in folders():
        content = case(folder)
        if content["bad"]:
            reason = content.get("not_found_yet")
            marks = [pytest.mark.xfail(reason=reason)] if reason else []
            yield pytest.param(folder, content, id=folder.name, marks=marks)


@pytest.mark.parametrize(("folder", "content"), list(bad_cases()))
def test_the_fault_of_a_bad_program_is_found(folder: Path, content: dict[str, Any], tmp_path: Path) -> None:
    codes = codes_of(content["theme"])
    found = diagnostics(content["bad"], folder, tmp_path)
    for expected in content["expected"]:
        places = [expected, *content.get("acceptable", [])]
        assert any(
            diagnostic.code in codes and shows(diagnostic, place)
            for place in places
            for diagnostic in found[place["file"]]
        ), f"nothing at {PurePosixPath(expected['file'])}:{expected.get('line', expected.get('line_in_cell'))}"


@pytest.mark.parametrize(("folder", "content"), list(bad_cases()))
def test_nothing_else_is_reported_in_a_bad_program(folder: Path, content: dict[str, Any], tmp_path: Path) -> None:
    codes = codes_of(content["theme"])
    found = diagnostics(content["bad"], folder, tmp_path)
    assert not [
        diagnostic
        for reported in found.values()
        for diagnostic in reported
        if diagnostic.code not in codes and diagnostic.severity is not Severity.INFORMATION
    ]


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in folders()])
def test_a_good_program_is_left_alone(folder: Path, tmp_path: Path) -> None:
    content = case(folder)
    codes = codes_of(content["theme"])
    found = diagnostics(content["good"], folder, tmp_path)
    assert not [
        diagnostic
        for reported in found.values()
        for diagnostic in reported
        if diagnostic.code in codes or diagnostic.severity is not Severity.INFORMATION
    ]


def test_the_cases_cover_every_rule_with_bad_and_good_programs() -> None:
    covered = {code for folder in folders() if case(folder)["bad"] for code in codes_of(case(folder)["theme"])}
    missing = linter().codes - covered
    assert not missing, f"no bad program for {', '.join(sorted(missing))}"
