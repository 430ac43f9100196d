"""Programs of several files: what lies in one of them and shows in another is found, and no more.

A folder of `tests/programs/` is one project. `# <- LLM405` stands where the rule of that code reports.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from llm_lsp.diagnostic import Severity
from scripts.linting import Linter

FOLDER = Path(__file__).parent / "programs"
NOT_FOUND_YET = {
    "a_lightning_pair": "what a module's own method computes is left to whoever calls the method",
    "backbones_in_a_registry": "a model that an object holds may be trained by whoever has the object",
}
_MARK = re.compile(r"# <- ((?:LLM\d+ ?)+)$")

Reports = set[tuple[str, int, str]]
"""File, row and code."""


@cache
def linter() -> Linter:
    return Linter()


def marked(folder: Path) -> Reports:
    found: Reports = set()
    for path in folder.rglob("*.py"):
        for row, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            mark = _MARK.search(line)
            found |= {(path.relative_to(folder).as_posix(), row, code) for code in mark[1].split()} if mark else set()
    return found


def reported(folder: Path, alone: Path) -> Reports:
    shutil.copytree(folder, alone, dirs_exist_ok=True)
    (alone / "setup.cfg").touch()
    return {
        (path.relative_to(alone).as_posix(), diagnostic.location.range.start.row, diagnostic.code)
        for path in alone.rglob("*.py")
        for diagnostic in linter().diagnostics(path)
        if diagnostic.severity is not Severity.INFORMATION
    }


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(reason=NOT_FOUND_YET[name], strict=True)] if name in NOT_FOUND_YET else []


@pytest.mark.parametrize(
    "folder", [pytest.param(path, id=path.name, marks=marks_of(path.name)) for path in sorted(FOLDER.iterdir())]
)
def test_what_shows_in_another_file_is_found_and_no_more(folder: Path, tmp_path: Path) -> None:
    assert reported(folder, tmp_path) == marked(folder)


def test_more_than_a_third_of_the_programs_are_right() -> None:
    right = [folder.name for folder in FOLDER.iterdir() if not marked(folder)]
    assert 3 * len(right) >= len(list(FOLDER.iterdir())) >= 20
