"""Whole programs, as they are and laid out otherwise: what is found stays, and all fixes settle and can be parsed."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from llm_lsp.diagnostic import Diagnostic
from llm_lsp.fixes import fix
from llm_lsp.source import Source
from scripts.linting import Linter

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted(ROOT.glob("tests/cases/*/*.py"))
PROGRAMS = sorted(chain(CASES, ROOT.glob("examples/**/*.py"), ROOT.glob("examples/**/*.ipynb")))


@cache
def linter() -> Linter:
    return Linter()


def diagnostics(path: Path, source: Source) -> list[Diagnostic]:
    return linter().diagnostics(path, source.data.decode())


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def check_repaired(path: Path, before: Source) -> None:
    fixed = fix(before, lambda source: diagnostics(path, source), unsafe=True)
    assert not fixed.source.problems
    left = [one for one in fixed.diagnostics if one.fix is not None]
    assert left == [], "a fix was offered again after the fixes, or not applied"
    assert {one.code for one in fixed.diagnostics} <= {one.code for one in diagnostics(path, before)}
    again = fix(fixed.source, lambda source: diagnostics(path, source), unsafe=True)
    assert (again.source.data, dict(again.applied)) == (fixed.source.data, {})


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_the_fixes_of_a_program_settle_and_leave_nothing_to_fix(path: Path) -> None:
    check_repaired(path, linter().source(path))


# ---------------------------------------------------------------- other layouts of the same program


def in_brackets(text: str) -> Iterator[tuple[int, tokenize.TokenInfo]]:
    """The tokens inside brackets, each with the offset behind it; none of an f-string."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    depth = strings = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        strings += tokenize.tok_name[token.type].endswith("STRING_START")
        strings -= tokenize.tok_name[token.type].endswith("STRING_END")
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        if depth and not strings:
            yield starts[token.end[0] - 1] + token.end[1], token


def with_strings_in_pieces(text: str) -> str:
    """Each name of a checkpoint inside brackets is written as two strings, with a comment and a line end between them."""
    parts: list[str] = []
    last = 0
    for end, token in in_brackets(text):
        word = token.string
        if token.type == tokenize.STRING and word[0] in "\"'" and word[:3] != word[0] * 3 and word[1:-1].isascii():
            at = end - len(word) // 2
            # Names of checkpoints; words such as "labels" are looked for in the text before the rules are imported.
            if "-" in word and "\\" not in word:
                parts += [text[last:at], f"{word[0]}  # in pieces\n{word[0]}"]
                last = at
    return "".join((*parts, text[last:]))


def with_a_line_for_each_argument(text: str) -> str:
    parts: list[str] = []
    last = 0
    for end, token in in_brackets(text):
        if token.string in {"(", ","} and not text.startswith((")", " :"), end):
            parts += [text[last:end], "\n"]
            last = end
    return "".join((*parts, text[last:]))


def with_windows_line_ends_and_a_mark(text: str) -> str:
    return "\ufeff" + text.replace("\n", "\r\n")


LAYOUTS = [with_strings_in_pieces, with_a_line_for_each_argument, with_windows_line_ends_and_a_mark]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("path", [path for path in CASES if path.name != "good.py"], ids=name)
def test_another_layout_changes_neither_what_is_found_nor_that_it_can_be_repaired(
    path: Path, layout: Callable[[str], str]
) -> None:
    before = linter().source(path)
    after = linter().source(path, layout(path.read_text(encoding="utf-8")))
    assert not after.problems
    found, found_after = (Counter(one.code for one in diagnostics(path, source)) for source in (before, after))
    assert found_after == found
    check_repaired(path, after)


def test_other_layouts_are_other_texts_of_the_same_program() -> None:
    text = 'load(\n    "a/b-base", f"{x}", key="value")\nname = "alo-ne"\n'
    assert with_strings_in_pieces(text) == (
        'load(\n    "a/b-"  # in pieces\n"base", f"{x}", key="value")\nname = "alo-ne"\n'
    )
    assert with_a_line_for_each_argument(text) == (
        'load(\n\n    "a/b-base",\n f"{x}",\n key="value")\nname = "alo-ne"\n'
    )
