"""Comments that silence diagnostics, the ones that silence nothing, and the ones that `--add-noqa` writes."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_lsp.diagnostic import Edit
from llm_lsp.source import Source
from llm_lsp.suppression import Unused, noqa_edits

CODE, NAME = "LLM101", "tokenizer-of-another-model"


def source(text: str) -> Source:
    return Source.from_text("train.py", text)


def is_suppressed(text: str, row: int = 1, code: str = CODE, name: str = NAME) -> bool:
    read = source(text)
    return bool(read.suppressions.suppressed_by(code, name, (row, *read.statement_rows(row))))


def unused(text: str, *rows: int, ran: Iterable[str] | None = None) -> list[Unused]:
    read = source(text)
    suppressed = [(CODE, NAME, (row, *read.statement_rows(row))) for row in rows]
    return read.suppressions.unused(suppressed, lambda written: ran is None or written in ran)


def without_unused(text: str, *rows: int) -> str:
    read = source(text)
    edits = [Edit(read.locate(one.removal), one.replacement) for one in unused(text, *rows)]
    return read.with_edits(edits).decode()


def annotated(text: str, *places: tuple[int, str]) -> str:
    read = source(text)
    return read.with_edits(noqa_edits(read, places)).decode()


# ---------------------------------------------------------------- what counts


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NoQA",
        "# noqa: LLM101",
        "# noqa:LLM101",
        "# noqa : llm101",
        "# noqa: F401, LLM101",
        "# noqa: F401 LLM101",
        "# noqa: LLM101 the mirror has the same vocabulary",
        "# type: ignore  # noqa: LLM101",
        "# noqa: because it is so",
        "# llm-lint: ignore",
        "# llm-lint:ignore",
        "# llm-lint: ignore[tokenizer-of-another-model]",
        "# llm-lint: ignore[LLM101]",
        "# llm-lint: ignore[ gradients-in-inference , LLM101 ]",
        "# llm-lint: ignore [LLM101]",
        "# why it is right  # llm-lint: ignore[LLM101]",
        "# llm-lint: ignore-file",
    ],
)
def test_a_comment_on_the_row_suppresses(comment: str) -> None:
    assert is_suppressed(f"x = 1  {comment}\n")


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "# noqa: LLM1",
        "# noqa: LLM102",
        "# noqa: F401",
        "# noqax",
        "# noqa-file",
        "# ruff: noqa: F401",
        "# llm-lint: ignore[LLM102]",
        "# llm-lint: ignore[tokenizer]",
        "# llm-lint: ignore[]",
        "# llm-lint: ignored",
        "# llm-lint: ignore-all",
        "# llm-lint",
        "# lint: ignore",
        "'# noqa'",
        '"""# noqa"""',
        "f'# noqa'",
    ],
)
def test_what_names_others_or_is_no_comment_does_not(comment: str) -> None:
    assert not is_suppressed(f"x = 1,  {comment}\n")


STATEMENT = "before = 0\nx = f(\n    a,\n    b,\n)\nafter = 0\n"


@pytest.mark.parametrize(("row", "counts"), [(1, False), (2, True), (3, False), (4, True), (5, True), (6, False)])
def test_a_comment_counts_on_the_diagnostic_s_first_row_and_on_the_statement_s_first_and_last(
    row: int, *, counts: bool
) -> None:
    lines = STATEMENT.splitlines()
    lines[row - 1] += "  # noqa: LLM101"
    assert is_suppressed("\n".join(lines), row=4) is counts


def test_the_last_row_of_a_header_counts_for_it_and_that_of_its_body_does_not() -> None:
    assert is_suppressed("with f(\n    a,\n):  # noqa\n    b\n    c\n", row=2)
    assert not is_suppressed("with f(\n    a,\n):\n    b\n    c  # noqa\n", row=2)


def test_a_comment_after_a_string_of_several_rows_counts() -> None:
    assert is_suppressed("x = f('''\n# no\n''')  # noqa\n", row=1)
    assert not is_suppressed("x = f('''\n# noqa\n''')\n", row=2)


@pytest.mark.parametrize(
    "text", ["x = (  # noqa\ny = 1\n", "y = (\nx = f(1)  # noqa\n", "def f(:\n    x = 1  # noqa\n"]
)
def test_broken_files_have_comments_too(text: str) -> None:
    read = source(text)
    assert read.problems
    row = text.split("# noqa", maxsplit=1)[0].count("\n") + 1
    assert read.suppressions.suppressed_by(CODE, NAME, (row,))


@pytest.mark.parametrize(
    ("comment", "code", "expected"),
    [
        ("# llm-lint: ignore-file", "LLM301", True),
        ("# llm-lint: ignore-file[LLM101]", "LLM101", True),
        ("# llm-lint: ignore-file[LLM101]", "LLM301", False),
        ("# llm-lint: ignore-file[tokenizer-of-another-model, LLM301]", "LLM301", True),
        ("# ruff: noqa", "LLM101", False),
        ("# flake8: noqa", "LLM101", False),
        ('"""# llm-lint: ignore-file"""', "LLM101", False),
    ],
)
def test_a_whole_file_is_silenced_only_by_our_own_words(comment: str, code: str, *, expected: bool) -> None:
    name = NAME if code == CODE else "gradients-in-inference"
    assert is_suppressed(f"x = 1\n{comment}\ny = 2\n", row=3, code=code, name=name) is expected


def test_a_comment_in_one_cell_of_a_notebook_does_not_count_in_another_unless_it_is_for_the_file() -> None:
    def suppressed(comment: str) -> list[bool]:
        cells = [{"cell_type": "code", "source": text} for text in (f"a = (\n{comment}", "b = 1", f"c = 2 {comment}")]
        read = Source.from_bytes("train.ipynb", json.dumps({"cells": cells}).encode())
        return [bool(read.suppressions.suppressed_by(CODE, NAME, (row,))) for row in range(1, 5)]

    assert suppressed("# noqa") == [False, True, False, True]
    assert suppressed("# llm-lint: ignore-file[LLM101]") == [True] * 4


# ---------------------------------------------------------------- what is unused


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        ("x = 1  # noqa: LLM101\n", ("LLM101",), "x = 1\n"),
        ("x = 1  # noqa: LLM101", ("LLM101",), "x = 1"),
        ("x = 1  # noqa: F401, LLM101, E501\n", ("LLM101",), "x = 1  # noqa: F401, E501\n"),
        ("x = 1  # noqa: LLM101,LLM301\n", ("LLM101", "LLM301"), "x = 1\n"),
        ("x = 1  # noqa: LLM101 # why\n", ("LLM101",), "x = 1  # why\n"),
        ("x = 1  # type: ignore  # noqa: LLM101\n", ("LLM101",), "x = 1  # type: ignore\n"),
        ("x = 1  # llm-lint: ignore[some-rule]\n", ("some-rule",), "x = 1\n"),
        ("x = 1  # llm-lint: ignore\n", (), "x = 1\n"),
        ("x = 1\n    # llm-lint: ignore-file[LLM101]\ny = 2\n", ("LLM101",), "x = 1\ny = 2\n"),
        ("# llm-lint: ignore-file", (), ""),
    ],
)
def test_what_suppresses_nothing_is_found_and_can_be_taken_away(text: str, names: tuple[str, ...], left: str) -> None:
    found = unused(text)
    assert [one.names for one in found] == [names]
    assert without_unused(text) == left
    assert unused(left) == []


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\n",
        "x = 1  # noqa: F401\n",
        "x = 1  # noqa: because\n",
        "x = '# noqa: LLM101'\n",
        "# ruff: noqa\n",
    ],
)
def test_what_speaks_to_other_linters_is_never_unused(text: str) -> None:
    assert unused(text) == []


def test_only_the_unused_part_is_named_and_taken_away() -> None:
    text = "x = 1  # llm-lint: ignore[tokenizer-of-another-model, LLM301]\n"
    assert [one.names for one in unused(text, 1)] == [("LLM301",)]
    assert without_unused(text, 1) == "x = 1  # llm-lint: ignore[tokenizer-of-another-model]\n"


def test_what_suppressed_something_is_used_wherever_it_stands() -> None:
    assert unused("x = f(  # noqa: LLM101\n    1,\n)\n", 2) == []
    assert unused("x = f(\n    1,\n)  # noqa: LLM101\n", 2) == []
    assert unused("# llm-lint: ignore-file[LLM101]\nx = 1\n", 2) == []


def test_a_code_that_is_written_twice_is_unused_once() -> None:
    assert without_unused("x = 1  # noqa: LLM101, LLM101\n", 1) == "x = 1  # noqa: LLM101\n"


def test_a_suppression_of_a_rule_that_did_not_run_is_left_alone() -> None:
    text = "x = 1  # noqa: LLM101, LLM301\n"
    assert unused(text, ran=()) == []
    assert [one.names for one in unused(text, ran=("LLM301",))] == [("LLM301",)]


def test_asking_twice_gives_the_same_answer() -> None:
    read = source("x = 1  # noqa: LLM101\n")
    assert read.suppressions.unused([(CODE, NAME, (1,))], lambda _: True) == []
    assert len(read.suppressions.unused([], lambda _: True)) == 1


# ---------------------------------------------------------------- writing them


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("x = 1\n", 1, "x = 1  # noqa: LLM101\n"),
        ("x = 1", 1, "x = 1  # noqa: LLM101"),
        ("x = 1  \n", 1, "x = 1  # noqa: LLM101\n"),
        ("x = 1\r\ny = 2\r\n", 1, "x = 1  # noqa: LLM101\r\ny = 2\r\n"),
        ("x = f(\n    1,\n)\n", 2, "x = f(\n    1,\n)  # noqa: LLM101\n"),
        ("x = '''\na\n'''\n", 1, "x = '''\na\n'''  # noqa: LLM101\n"),
        ("x = 1 + \\\n    2\n", 1, "x = 1 + \\\n    2  # noqa: LLM101\n"),
        ("with f(\n    a\n):\n    b\n", 1, "with f(\n    a\n):  # noqa: LLM101\n    b\n"),
        ("x = 1  # why\n", 1, "x = 1  # why  # noqa: LLM101\n"),
        ("x = 1  # noqa: F401\n", 1, "x = 1  # noqa: F401, LLM101\n"),
        ("x = 1  # noqa: F401 why\n", 1, "x = 1  # noqa: F401, LLM101 why\n"),
        ("x = 1  # noqa\n", 1, "x = 1  # noqa\n"),
        ("x = 1  # noqa: LLM101\n", 1, "x = 1  # noqa: LLM101\n"),
        ("größe = 1; y = 2\n", 1, "größe = 1; y = 2  # noqa: LLM101\n"),
    ],
)
def test_a_comment_goes_to_the_end_of_the_statement(text: str, row: int, expected: str) -> None:
    assert source(text).with_edits(noqa_edits(source(text), [(row, CODE)])).decode() == expected
    assert is_suppressed(expected.replace("\r\n", "\n"), row=row)


def test_codes_of_one_statement_share_a_comment_in_the_order_they_come() -> None:
    assert annotated("x = f(\n    1)\n", (1, "LLM301"), (2, "LLM101"), (1, "LLM301")) == (
        "x = f(\n    1)  # noqa: LLM301, LLM101\n"
    )


@pytest.mark.parametrize("text", ["x = '''\nabc", "x = 1 \\", "x = f(\n    1, \\"])
def test_no_comment_goes_where_it_would_be_read_as_something_else(text: str) -> None:
    rows = [(row, CODE) for row in range(1, text.count("\n") + 2)]
    assert noqa_edits(source(text), rows) == []


def test_no_comment_goes_into_a_magic() -> None:
    cells = [{"cell_type": "code", "source": "%run x.py\ny = 1\n!ls \\\n  -l"}]
    read = Source.from_bytes("train.ipynb", json.dumps({"cells": cells}).encode())
    edits = noqa_edits(read, [(row, CODE) for row in range(1, 5)])
    assert [(edit.location.cell, edit.location.range.start.row) for edit in edits] == [(1, 2)]


LINES = st.sampled_from(
    [
        "x = 1",
        "x = '''",
        "'''",
        '"""',
        "f(",
        ")",
        "if x:",
        "    y = 2  # note",
        "    z = 3  # noqa: F401",
        "x = 1 + \\",
        "",
        "# noqa",
        "f'{x}' '#'",
        "@d",
        "def f(a,",
        "      b):",
    ]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_comments_change_no_program(text: str) -> None:
    read = source(text)
    rows = [(row, CODE) for row in range(1, len(read.lines) + 1)]
    after = source(read.with_edits(noqa_edits(read, rows)).decode())
    if not read.problems:
        assert ast.dump(after.tree) == ast.dump(read.tree)
        assert noqa_edits(after, rows) == []
