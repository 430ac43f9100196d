"""All fixes applied to whole programs: they settle, what they leave still parses, and a second time changes nothing."""

from __future__ import annotations

from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from llm_lsp.diagnostic import Diagnostic
from llm_lsp.fixes import fix
from llm_lsp.source import Source
from scripts.linting import Linter

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted(
    chain(ROOT.glob("tests/cases/*/*.py"), ROOT.glob("examples/**/*.py"), ROOT.glob("examples/**/*.ipynb"))
)


@cache
def linter() -> Linter:
    return Linter()


def diagnostics(path: Path, source: Source) -> list[Diagnostic]:
    return linter().diagnostics(path, source.data.decode())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_fixes_of_a_program_settle_and_leave_nothing_to_fix(path: Path) -> None:
    before = linter().source(path)
    fixed = fix(before, lambda source: diagnostics(path, source), unsafe=True)
    assert not fixed.source.problems
    left = [one for one in fixed.diagnostics if one.fix is not None]
    assert left == [], "a fix was offered again after the fixes, or not applied"
    assert {one.code for one in fixed.diagnostics} <= {one.code for one in diagnostics(path, before)}
    again = fix(fixed.source, lambda source: diagnostics(path, source), unsafe=True)
    assert (again.source.data, dict(again.applied)) == (fixed.source.data, {})
