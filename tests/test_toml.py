"""Where the keys of a TOML document are written."""

from __future__ import annotations

from typing import Any

import pytest

from llm_lsp.toml import InvalidTomlError, KeyPath, key_rows, parse

CASES: list[tuple[str, KeyPath, int]] = [
    ("a = 1\nb = 2\n", ("b",), 2),
    ("# a = 1\n\na = 1", ("a",), 3),
    ("[tool.x]\na = 1\n[tool.y]\na = 2\n", ("tool", "y", "a"), 4),
    ("[tool.x]\n[tool.x.deep]\nkey = 1\n", ("tool", "x", "deep", "key"), 3),
    ("[ tool . 'llm-lint' ]\nkey = 1\n", ("tool", "llm-lint", "key"), 2),
    ("tool.llm-lint.key = 1\n", ("tool", "llm-lint", "key"), 1),
    ('[tool]\n"llm-lint" . "a b" = 1\n', ("tool", "llm-lint", "a b"), 2),
    ('"s\\u0065lect" = 1\n', ("select",), 1),
    ("'not.dotted' = 1\n", ("not.dotted",), 1),
    ('a = [\n  "x", # ] "y"\n  "z",\n]\nb = 1\n', ("a", 1), 3),
    ('a = [\n  "x",\n  "z"\n]\nb = 1\n', ("b",), 5),
    ("a = [[1, 2], [\n3]]\n", ("a", 1, 0), 2),
    ('a = { b = 1, "c d" = { e = "}" } }\nf = 1\n', ("a", "c d", "e"), 1),
    ('a = { b = 1, "c d" = { e = "}" } }\nf = 1\n', ("f",), 2),
    ('a = """\nb = 1\n""\\""""\nb = 2\n', ("b",), 4),
    ("a = '''\nb = 1\n[c]\n'''''\nb = 2\n", ("b",), 5),
    ('a = "x # y \\" z"\nb = 1\n', ("b",), 2),
    ("a = '\\'\nb = 1\n", ("b",), 2),
    ("[[t]]\na = 1\n[[t]]\na = 2\n", ("t", 1, "a"), 4),
    ("[[t]]\n[t.u]\na = 1\n[[t]]\n[t.u]\na = 2\n", ("t", 1, "u", "a"), 6),
    ("a = 1979-05-27T07:32:00Z # date\r\nb = 1\r\n", ("b",), 2),
    ("[x] # comment with [y]\n\tb = true\n", ("x", "b"), 2),
    ("a = []\nb = {}\nc = 1", ("c",), 3),
]


@pytest.mark.parametrize(("text", "path", "row"), CASES)
def test_a_key_is_found_where_it_is_written(text: str, path: KeyPath, row: int) -> None:
    value: Any = parse(text)
    for key in path:
        value = value[key]
    assert value is not None, "the case itself is wrong"
    assert key_rows(text)[path] == row


def test_keys_inside_strings_and_comments_are_not_keys() -> None:
    assert set(key_rows('a = "b = 1"\n# c = 1\nd = """\ne = 1\n"""\n')) == {("a",), ("d",)}


def test_a_broken_document_keeps_the_rows_before_the_break() -> None:
    assert key_rows('a = 1\nb = "never closed\n')[("a",)] == 1


@pytest.mark.parametrize(
    ("text", "row"),
    [("a = 1\nb =\n", 2), ("a = 1\na = 2\n", 2), ("[a\n", 1), ("\n\na = 'x", 3), ("a = [\n1,\n", 2)],
)
def test_a_syntax_error_has_its_row(text: str, row: int) -> None:
    with pytest.raises(InvalidTomlError) as caught:
        parse(text)
    assert caught.value.row == row


def test_nesting_without_end_is_an_error_not_a_crash() -> None:
    with pytest.raises(InvalidTomlError):
        parse("a = " + "[" * 100_000)
    assert key_rows("a = " + "[" * 100_000)[("a",)] == 1
