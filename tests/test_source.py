"""One file: read whatever it holds, point at its places, write it back."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_lsp import logical_lines, parsing
from llm_lsp.diagnostic import Edit, Location, Position, Range
from llm_lsp.source import EditError, Source


def source(text: str | bytes, max_size: int = 1_000_000) -> Source:
    return Source.from_bytes("train.py", text if isinstance(text, bytes) else text.encode(), max_size=max_size)


def at(row: int, column: int, end_row: int | None = None, end_column: int | None = None) -> Range:
    start = Position(row, column)
    return Range(start, Position(end_row or row, end_column or column) if end_row else start)


def edit(range_: Range, content: str, cell: int | None = None) -> Edit:
    return Edit(Location("train.py", cell, range_), content)


def said(read: Source) -> list[tuple[str, int, int]]:
    return [(problem.code, problem.range.start.row, problem.range.start.column) for problem in read.problems]


def code_of(read: Source) -> str:
    return ast.unparse(read.tree)


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\ny = 2\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2",
        b"\xef\xbb\xbfx = 1\ny = 2",
        b"\xef\xbb\xbf# coding: utf-8\nx = 1\ny = 2",
        b"#!/usr/bin/env python\n# -*- coding: latin-1 -*-\nx = 1\ny = 2 # \xe9\n",
        "x = 1\n\f\ny = 2 # \N{HUGGING FACE}\n".encode(),
        b"# coding=cp1252\r\nx = 1\r\ny = 2 # \x80\r\n",
    ],
)
def test_what_python_reads_is_read_and_written_back_as_it_was(data: bytes) -> None:
    read = source(data)
    assert read.problems == ()
    assert code_of(read) == "x = 1\ny = 2"
    assert "\r" not in read.text
    assert read.with_edits([]) == data
    inserted = read.with_edits([edit(at(1, 1), "")])
    assert inserted == data


def test_latin_1_without_a_coding_line_is_one_problem_that_names_the_byte_and_the_way_out() -> None:
    read = source(b"x = 1\r\nname = '\xe9t\xe9'\r\n")
    assert said(read) == [("LLM000", 2, 9)]
    message = read.problems[0].message
    assert "0xe9" in message
    assert "offset 15" in message
    assert "# coding: latin-1" in message
    assert read.tree.body == []
    assert read.masked == ((1, 3),)
    with pytest.raises(EditError, match="could not be read"):
        read.with_edits([edit(at(1, 1), "y")])


@pytest.mark.parametrize(
    ("data", "row", "words"),
    [
        (b"# coding: klingon\nx = 1\n", 1, "klingon"),
        (b"# coding: rot13\nx = 1\n", 1, "rot13"),
        (b"# coding: utf-16\nx = 1\n", 1, "utf-16"),
        (b"# coding: unicode_escape\nx = 1\n", 1, "unicode_escape"),
        (b"#!/bin/sh\n# coding: ascii\nx = '\xe9'\n", 3, "not `ascii`"),
        (b"\xef\xbb\xbf\n# coding: latin-1\nx = 1\n", 2, "byte-order mark"),
        ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
        ("x = 1\n".encode("utf-32"), 1, "UTF-32"),
        (b"x = 1\ny = '\0'\n", 2, "null byte at offset 11"),
    ],
)
def test_a_file_that_python_refuses_whole_is_one_problem_and_no_tree(data: bytes, row: int, words: str) -> None:
    read = source(data)
    assert [(code, line) for code, line, _ in said(read)] == [("LLM000", row)]
    assert words in read.problems[0].message
    assert read.tree.body == []


def test_a_coding_line_counts_only_where_python_looks_for_it() -> None:
    assert source(b"x = 1\n# coding: klingon\n").problems == ()
    assert source(b"\n\n# coding: klingon\nx = 1\n").problems == ()


def test_a_file_above_the_size_limit_is_not_analysed_and_the_setting_is_named() -> None:
    read = source("x = 1\n" * 3, max_size=17)
    assert said(read) == [("LLM002", 1, 1)]
    assert "`max-source-size`" in read.problems[0].message
    assert source("x = 1\n" * 3, max_size=18).problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 500 + "1" + ")" * 500 + "\n",
        "x = " + "[" * 500 + "\n",
        "".join(" " * row + "if x:\n" for row in range(500)) + " " * 500 + "y\n",
        "x = " + "-" * 100_000 + "1\n",
        "x = f" + "()" * 100_000 + "\n",
        "x = a" + ".b" * 100_000 + "\n",
        "x = " + "+".join("a" * 100_000) + "\n",
    ],
    ids=["parentheses", "open brackets", "blocks", "signs", "calls", "attributes", "sums"],
)
def test_nesting_that_nothing_can_follow_is_one_problem(text: str) -> None:
    read = source(text)
    assert [code for code, _, _ in said(read)] == ["LLM002"]
    assert read.tree.body == []


def test_python_s_own_warnings_reach_nobody() -> None:
    program = "from llm_lsp.source import Source; print(Source.from_bytes('x.py', rb'''x = '\\d' is 1or 2''').problems)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[1],
    )
    assert (done.stdout, done.stderr) == ("()\n", "")


def test_half_of_a_surrogate_pair_in_an_editor_s_buffer_is_read() -> None:
    read = Source.from_text("train.py", "x = '\ud800'; y\n")
    assert read.problems == ()
    last = read.tree.body[-1]
    assert read.segment(read.range_of(last)) == "y"


# ---------------------------------------------------------------- broken text

BROKEN = {
    "a call that is being typed": ("x = 1\ny = f(\nz = 3\n", (2, 2), "x = 1\ny = __unknown__()\nz = 3"),
    "a call before a definition": (
        "seed(\ndef f():\n    return 1\n",
        (1, 1),
        "__unknown__()\n\ndef f():\n    return 1",
    ),
    "an attribute": ("x = torch.\nz = 3\n", (1, 1), "x = __unknown__()\nz = 3"),
    "several targets": ("a, b.c = = 1\nz = 3\n", (1, 1), "a, b.c = __unknown__()\nz = 3"),
    "an annotated target": ("a: int = \nz = 3\n", (1, 1), "a = __unknown__()\nz = 3"),
    "the only statement of a block": (
        "def f():\n    torch.\nz = 3\n",
        (2, 2),
        "def f():\n    __unknown__()\nz = 3",
    ),
    "a header without a colon": (
        "with torch.no_grad()\n    y = 1\nz = 3\n",
        (1, 1),
        "with __unknown__():\n    y = 1\nz = 3",
    ),
    "a header without a body": ("def f():\n    if x:\n    y = 1\n", (2, 2), None),
    "a decorator": ("@torch.no_grad(\ndef f():\n    pass\n", (1, 1), "@__unknown__\ndef f():\n    pass"),
    "a method's parameters": (
        "class A:\n    def f(self, x\n        return x\n    def g(self):\n        return 1\n",
        (2, 2),
        None,
    ),
    "a try without a handler": ("try:\n    x\ny = 1\n", (1, 1), "if __unknown__():\n    x\ny = 1"),
    "half a handler": ("try:\n    x\nexce\n    y\nz = 3\n", (3, 3), None),
    "an else without an if": ("x = 1\nelse:\n    y\nz = 3\n", (2, 2), "x = 1\nif __unknown__():\n    y\nz = 3"),
    "a body without a header": ("x = 1\n    y = 2\n    y = 3\nz = 3\n", (2, 3), "x = 1\nz = 3"),
    "a decorated body without a header": (
        "class A:\n    x = 1\n    @d\n        y = 2\n    z = 3\n",
        (3, 4),
        "class A:\n    x = 1\n    z = 3",
    ),
    "the wrong indentation": ("def f():\n        x = 1\n    y = 2\nz = 3\n", (3, 3), "def f():\n    x = 1\nz = 3"),
    "tabs and spaces": ("if x:\n\ty\n        z\nz = 3\n", (3, 3), "if x:\n    y\nz = 3"),
    "a docstring that is being typed": (
        'def f():\n    """Text\n    x = 1\ndef g():\n    """Other."""\n    return 1\n',
        (2, 3),
        'def f():\n    __unknown__()\n\ndef g():\n    """Other."""\n    return 1',
    ),
    "text without its opening quotes": (
        'def f():\n    Some text, here\n    """\n    x = 1\ndef g():\n    """Other."""\n    return 1\n',
        (2, 3),
        'def f():\n    __unknown__()\n    x = 1\n\ndef g():\n    """Other."""\n    return 1',
    ),
    "brackets of two kinds": ("x = (1,\n2\n]\nz = 3\n", (1, 3), "x = __unknown__()\nz = 3"),
    "a merge conflict": ("x = 1\n<<<<<<< HEAD\nz = 3\n", (2, 2), "x = 1\n__unknown__()\nz = 3"),
    "an open f-string": ("x = f'{a b}'\nz = 3\n", (1, 1), "x = __unknown__()\nz = 3"),
    "an open string": ("x = 'a\nz = 3\n", (1, 1), "x = __unknown__()\nz = 3"),
    "a backslash at the end": ("z = 3\nx = 1 \\", (2, 2), "z = 3\nx = __unknown__()"),
    "return and raise": ("def f():\n    return (\n", (2, 2), "def f():\n    return __unknown__()"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_broken_is_masked_and_said_once_and_the_rest_keeps_its_tree(case: str) -> None:
    text, masked, code = BROKEN[case]
    read = source(text)
    assert [code for code, _, _ in said(read)] == ["LLM000"], read.problems
    assert read.masked == (masked,)
    assert read.text == text
    if code is not None:
        assert code_of(read) == code
    else:
        assert parsing.UNKNOWN in code_of(read)


def test_two_broken_places_are_two_problems() -> None:
    read = source("x = (\ny = 1\nz = )\nw = 2\n")
    assert [row for _, row, _ in said(read)] == [1, 3]
    assert code_of(read) == "x = __unknown__()\ny = 1\nz = __unknown__()\nw = 2"


def test_a_broken_assignment_does_not_leave_the_old_value_behind() -> None:
    read = source("t = load('a')\nt = load('b'\nuse(t)\n")
    assert code_of(read).splitlines()[1] == "t = __unknown__()"


def test_messages_are_one_clause_without_a_full_stop() -> None:
    read = source("x = (a b)\n")
    assert read.problems[0].message == "invalid syntax, perhaps you forgot a comma"


def test_a_file_beyond_repair_keeps_what_stands_above() -> None:
    read = source("x = 1\n\ndef f():\n" + "    ) ]\n    y = 'é\n" * 200 + "z = 3\n")
    assert read.problems
    assert isinstance(read.tree.body[0], ast.Assign)
    assert read.masked[-1][1] >= 403


@pytest.mark.parametrize("text", ["print 'a'\n", "print x\n", "exec 'a'\n"])
def test_older_syntax_is_said_once_per_file(text: str) -> None:
    read = source(f"x = 1\n{text}y = 2\n{text}z = 3\n")
    assert len(read.problems) == 1
    assert "is syntax of Python 2" in read.problems[0].message
    assert "z = 3" in code_of(read)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
@pytest.mark.parametrize(
    "text",
    ["type A = int\n", "def f[T](x: T) -> T:\n    return x\n", "class A[T]:\n    x = 1\n", "v = f'{d['a']}'\n"],
)
def test_newer_syntax_is_said_once_per_file(text: str) -> None:
    read = source(f"x = 1\n{text}y = 2\n{text}z = 3\n")
    assert len(read.problems) == 1
    assert "is syntax of Python 3.12, but llm-lint runs on" in read.problems[0].message
    assert "z = 3" in code_of(read)


def test_newer_syntax_that_the_running_python_reads_is_no_problem() -> None:
    if sys.version_info >= (3, 12):
        assert source("type A = int\ndef f[T](x: T) -> T:\n    return x\n").problems == ()
    assert source("match x:\n    case 1:\n        pass\n").problems == ()


CORPUS = [Path(ast.__file__), Path(subprocess.__file__), Path(parsing.__file__), Path(logical_lines.__file__)]


def test_a_token_that_is_missing_costs_little_of_the_tree() -> None:
    """Over 90 % of such variants of the standard library keep over 95 % of their rows; here, of our own modules."""
    chance = random.Random(8)  # noqa: S311
    kept = 0
    for _ in range(60):
        text = chance.choice(CORPUS[2:]).read_text(encoding="utf-8")
        found = chance.choice(list(re.finditer(r"[()\[\]{}:]|\"\"\"|'|\"", text)))
        read = Source.from_text("x.py", text[: found.start()] + text[found.end() :])
        kept += bool(read.tree.body) and sum(last - first + 1 for first, last in read.masked) < len(read.lines) * 0.1
    assert kept >= 50


@given(st.sampled_from(CORPUS), st.floats(0, 1), st.sampled_from(["", "(", '"""', "'", "}", "\n", "\\", "é", "\t"]))
def test_a_file_cut_or_disturbed_anywhere_gives_places_that_exist(path: Path, where: float, what: str) -> None:
    text = path.read_text(encoding="utf-8")[:8_000]
    offset = int(len(text) * where)
    read = Source.from_text("x.py", text[:offset] + what + text[offset:] if what else text[:offset])
    for problem in read.problems:
        start, end = problem.range.start, problem.range.end
        assert start <= end
        assert start.column <= len(read.lines[start.row - 1]) + 1
        assert any(first <= start.row <= last for first, last in read.masked)
    for node in ast.walk(read.tree):
        if isinstance(node, ast.Name) and node.id.strip("_") != "unknown":
            assert read.segment(read.range_of(node)) == node.id


@given(st.binary(max_size=300))
def test_no_bytes_raise_and_no_edits_give_them_back(data: bytes) -> None:
    for path in ("x.py", "x.ipynb"):
        read = Source.from_bytes(path, data)
        assert read.with_edits([]) == data
        assert all(problem.message for problem in read.problems)


@given(st.text(alphabet="ab=1 \n\t\f()[]{}:#'\"\\,é?%!@.fdef", max_size=80))
def test_no_text_raises(text: str) -> None:
    read = Source.from_text("x.py", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read.problems or ast.dump(ast.parse(text)) == ast.dump(read.tree)


# ---------------------------------------------------------------- places


def test_columns_are_code_points_and_not_bytes() -> None:
    read = source("größe = '\N{HUGGING FACE}'; y = model(größe)\nz = 1\n")
    call = next(node for node in ast.walk(read.tree) if isinstance(node, ast.Call))
    assert read.range_of(call) == at(1, 18, 1, 30)
    assert read.segment(read.range_of(call)) == "model(größe)"
    assert read.range_of(read.tree.body[-1]) == at(2, 1, 2, 6)


def test_a_form_feed_or_a_line_separator_starts_no_row() -> None:
    read = source("x = '\u2028\x1c\x0b'\n\f\ny = 2\n")
    assert read.range_of(read.tree.body[1]) == at(3, 1, 3, 6)
    assert read.segment(at(1, 1, 3, 2)) == "x = '\u2028\x1c\x0b'\n\f\ny"


def test_a_segment_outside_the_module_is_empty() -> None:
    read = source("x = 1\n")
    assert read.segment(at(9, 1, 10, 1)) == ""
    assert read.segment(at(1, 3, 5, 1)) == "= 1\n"


def test_a_statement_has_the_rows_of_its_logical_line_and_a_compound_one_those_of_its_header() -> None:
    read = source("@d\ndef f(\n    a,\n):\n    x = (\n        1\n    )\n\n    # note\n    s = '''\n#\n'''\n")
    rows = [read.statement_rows(row) for row in range(1, 13)]
    assert rows == [(1, 1), *[(2, 4)] * 3, *[(5, 7)] * 3, (8, 8), (9, 9), *[(10, 12)] * 3]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_logical_lines_and_comments_are_those_of_tokenize(path: Path) -> None:
    import io
    import tokenize

    text = path.read_text(encoding="utf-8")
    spans: list[tuple[int, int]] = []
    comments: list[tuple[int, int, str]] = []
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append((token.start[0], token.start[1] + 1, token.string))
        elif token.type == tokenize.NEWLINE:
            spans.append((first, token.start[0]))
            first = 0
        elif token.type not in {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}:
            first = first or token.start[0]
    found = logical_lines.scan(text)
    assert list(found.spans) == spans
    assert [(one.row, one.column, one.text) for one in found.comments] == comments


# ---------------------------------------------------------------- edits


def test_inserted_text_gets_the_file_s_line_ends_encoding_and_mark() -> None:
    read = source(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    assert read.with_edits([edit(at(2, 1), "a = 1\nb = '\N{HUGGING FACE}'\n")]) == (
        "\ufeffx = 1\r\na = 1\r\nb = '\N{HUGGING FACE}'\r\ny = 2\r\n".encode()
    )
    read = source(b"# coding: latin-1\nx = '\xe9'\n")
    assert read.with_edits([edit(at(2, 6, 2, 7), "ü")]) == b"# coding: latin-1\nx = '\xfc'\n"


def test_what_an_encoding_cannot_hold_is_refused() -> None:
    read = source(b"# coding: latin-1\nx = '\xe9'\n")
    with pytest.raises(EditError, match="can't be written in the encoding `latin-1`"):
        read.with_edits([edit(at(2, 6, 2, 7), "\N{HUGGING FACE}")])


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_below_the_last_one_leaves_the_final_line_end_as_it_was(end: str) -> None:
    read = source(f"x = 1{end}")
    place = read.below(1)
    assert place.range == at(2, 1)
    assert read.with_edits([Edit(place, "y = 2\n")]) == f"x = 1\ny = 2{end}".encode()


def test_edits_at_one_place_keep_their_order_and_deletions_delete() -> None:
    read = source("abc = 1\n")
    edits = [edit(at(1, 4, 1, 8), ""), edit(at(1, 1), "x"), edit(at(1, 1), "y"), edit(at(1, 1, 1, 2), "z")]
    assert read.with_edits(edits) == b"xyzbc\n"


@pytest.mark.parametrize(
    "edits",
    [
        [edit(at(1, 1, 1, 4), "x"), edit(at(1, 3, 1, 5), "y")],
        [edit(at(9, 1), "x")],
        [edit(at(1, 99), "x")],
        [edit(at(2, 2), "x")],
    ],
)
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(EditError):
        source("abc = 1\n").with_edits(edits)


LINES = st.lists(st.text(alphabet="ab é\N{HUGGING FACE}\t\f\u2028#", max_size=6), min_size=1, max_size=6)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_an_insertion_keeps_every_other_byte(lines: list[str], end: str, data: st.DataObject) -> None:
    written = end.join(lines).encode()
    read = source(written)
    row = data.draw(st.integers(1, len(lines)))
    column = data.draw(st.integers(1, len(lines[row - 1]) + 1))
    before = (end.join([*lines[: row - 1], ""]) + lines[row - 1][: column - 1]).encode()
    changed = read.with_edits([edit(at(row, column), "inserted\n")])
    inserted = f"inserted{end if len(lines) > 1 else chr(10)}".encode()
    assert changed == before + inserted + written[len(before) :]


# ---------------------------------------------------------------- nodes


ALL_BLOCKS = """\
import os

@os.decorated(
    1)
class A(
        object):
    x = [y for y in range(3)]

    def method(self, a=f"{os.name}"): return a; pass

async def b():
    async with b() as c, b():
        async for d in c:
            await d
        else:
            pass
try:
    for i in range(3): i += 1
    else: pass
except OSError as error:
    raise
else:
    while True: break
finally:
    with open("x") as f: f.read()
match os.name:
    case {"a": [1, *_]} if os: print(1); print(2)
    case _:
        lambda: (
            3
        )
if os: pass
elif not os: del os
else: x: int = 3
"""


def test_statements_are_those_of_a_walk_over_all_nodes() -> None:
    source = Source.from_text("example.py", ALL_BLOCKS)
    assert not source.problems
    assert source.statements == [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt)]


def test_a_source_holds_its_own_nodes_and_no_other_s() -> None:
    one, other = (Source.from_text("example.py", ALL_BLOCKS) for _ in range(2))
    nodes = [node for node in ast.walk(one.tree) if hasattr(node, "lineno")]
    assert [node for node in nodes if not one.holds(node)] == []
    assert [node for node in nodes if other.holds(node)] == []
