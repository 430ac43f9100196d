"""A tree that shares statements with that of the text before is the tree that the whole text has."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_lsp.parsing import Parsed, parse, parse_cells, python_tree
from llm_lsp.reparsing import tree_after_edit
from llm_lsp.source import Source

ROOT = Path(__file__).resolve().parents[1]

PARTS = (
    "import torch\n",
    '"""Text\nof a module."""\n',
    "x = 1; y = 2\n",
    'x = """\n"""; y = 1\n',
    "x = 1; \\\ny = 2\n",
    "x = 1 \\\n\n",
    "\\\nx = 1\n",
    "# a comment \\\n",
    "(\nx\n)\n",
    "if x:\n    pass\n",
    "else:\n    pass\n",
    "try:\n    pass\nexcept E:\n    pass\nelse:\n    pass\nfinally:\n    pass\n",
    "for x in y: pass\n",
    "@decorated\n@again(1)\ndef f(a):\n    return a\n",
    "@(\ndecorated\n)\ndef f(): pass\n",
    "@ \\\ndecorated\nclass A: pass\n",
    "@(a\n@ b)\nasync def f():\n    await x\n",
    "class Model(nn.Module):\n    def forward(self, x):\n        '''Text'''\n\n        return x\n\n    y = 1\n",
    "match x:\n    case 1: pass\n    case _:\n        y\n",
    "match = case = 1\n",
    "\fx = 1\n",
    "\tx\n",
    "print(f'{x!r:>{width}}')\n",
    "größe = '😊'\n",
    "\n",
    "    \n",
)
PIECES = (
    *PARTS,
    *("\n", "\n\n", " ", "    ", "\t", "\f", "\\", "\\\n", ";", ":", "=", ",", ".", "x", "#", "@", "else", "pass"),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "'''",
        '"""',
        "f'",
        "b'",
        "\ufeff",
        "é",
        "😊",
        "def f():",
        "async ",
        "if x:",
    ),
)


def dumped(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True)


def outcome(parse_it: Callable[..., ast.Module | None], *arguments: object) -> object:
    """What came of it, so that it can be compared."""
    try:
        tree = parse_it(*arguments)
    except SyntaxError as error:
        return error.msg, error.lineno, error.offset, error.end_lineno, error.end_offset
    except UnicodeError as error:
        return type(error)
    return None if tree is None else dumped(tree)


def assert_same(one: Parsed, other: Parsed) -> None:
    assert one._replace(tree=other.tree) == other
    assert dumped(one.tree) == dumped(other.tree)


@st.composite
def edited(draw: st.DrawFn) -> list[str]:
    """A text, and what becomes of it edit by edit."""
    texts = ["".join(draw(st.lists(st.sampled_from(PARTS), min_size=2, max_size=12)))]
    for _ in range(draw(st.integers(1, 6))):
        text = texts[-1]
        starts = [0, *(offset + 1 for offset, character in enumerate(text) if character == "\n")]
        begin = draw(st.one_of(st.sampled_from(starts), st.integers(0, len(text))))
        end = min(len(text), begin + draw(st.sampled_from((0, 0, 0, 1, 2, 5, 30))))
        texts.append(text[:begin] + draw(st.one_of(st.just(""), st.sampled_from(PIECES))) + text[end:])
    return texts


@given(edited())
def test_any_edit_gives_what_the_whole_text_gives(texts: list[str]) -> None:
    parsed: Parsed | None = None
    for text in texts:
        before = dumped(parsed.tree) if parsed is not None else ""
        now = parse(text, parsed)
        assert_same(now, parse(text))
        assert parsed is None or dumped(parsed.tree) == before
        parsed = now


@given(st.lists(edited(), min_size=1, max_size=3))
def test_any_edit_of_a_cell_gives_what_the_whole_notebook_gives(cells: list[list[str]]) -> None:
    parsed: Parsed | None = None
    for state in range(max(map(len, cells))):
        texts = [f"{cell[min(state, len(cell) - 1)]}\n" for cell in cells]
        now = parse_cells(texts, parsed)
        assert_same(now, parse_cells(texts))
        parsed = now


@pytest.mark.parametrize("name", ["llm_lsp/parsing.py", "llm_lsp/facts/calls.py", "tests/test_source.py"])
@pytest.mark.parametrize("typed", ["x", "\n", "    pass\n", "(", '"""', "else:\n    pass\n", "# comment\n", "@f\n"])
def test_whatever_is_typed_in_a_real_file_gives_its_tree(name: str, typed: str) -> None:
    code = (ROOT / name).read_text(encoding="utf-8")
    tree = ast.parse(code)
    lines = code.splitlines(keepends=True)
    for row in range(0, len(lines), 41):
        text = "".join([*lines[:row], typed, *lines[row:]])
        assert outcome(tree_after_edit, text, code, tree, python_tree) in {None, outcome(ast.parse, text)}


PROGRAM = "a = 1\n\n\ndef f():\n    return 1\n\n\n@dec\nclass A:\n    x = 1\n\n\nb = 2\n"


def shared(text: str, code: str = PROGRAM) -> list[bool]:
    """Of each statement of `text`, whether it is one of those of `code`."""
    before = parse(code)
    assert dumped(parse(text, before).tree) == dumped(ast.parse(text))
    return [any(node is other for other in before.tree.body) for node in parse(text, before).tree.body]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PROGRAM, [True] * 4, id="nothing"),
        pytest.param(PROGRAM.replace("return 1", "return 12"), [True, False, True, True], id="in a function"),
        pytest.param(PROGRAM.replace("x = 1\n", "x = 1  # one\n"), [True, True, False, True], id="a comment"),
        pytest.param(PROGRAM.replace("@dec", "@deco"), [True, True, False, True], id="in a decorator"),
        pytest.param(PROGRAM.replace("a = 1", "a = 12"), [False, True, True, True], id="in the first one"),
        pytest.param(PROGRAM.replace("return 1", "x = 1\n    return x"), [True, False, False, False], id="a line"),
        pytest.param(PROGRAM.replace("b = 2\n", "b = 2\nc = 3\n"), [True, True, True, False, False], id="at the end"),
        pytest.param(PROGRAM.replace("b = 2\n", "b = 2"), [True, True, True, False], id="the last line end"),
        pytest.param(PROGRAM.replace("    return 1", "    return (1"), None, id="what is broken"),
    ],
)
def test_what_lies_around_an_edit_is_not_parsed_again(text: str, expected: list[bool] | None) -> None:
    if expected is None:
        before = parse(PROGRAM)
        after = parse(text, before)
        assert after.masked
        assert after.tree.body[0] is before.tree.body[0]
        assert after.tree.body[3] is before.tree.body[3]
    else:
        assert shared(text) == expected


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("a\nx = 1; \\\ny = 2\n", "a\nx = 1; \\\nif y: pass\n"),
        ("a\nx = 1; y = 2\n", "a\nx = 1; y = 3\n"),
        ('a\nx = """\n"""; y = 1\n', 'a\nx = """\n"""; y = 2\n'),
        ("a\n@(\nb\n)\ndef f(): pass\n", "a\n@(\nc\n)\ndef f(): pass\n"),
        ("a\nif x: pass\nb\n", "a\nif x: pass\nelse: pass\n"),
        ("if x: pass\nb\n", "if x: pass\nelse: b\n"),
        ("class A:\n    x\n\ndef f(self): pass\n", "class A:\n    x\n\n    def f(self): pass\n"),
        ("class A:\n    x\ndef f(): pass\n", "class A:\n    x\nf(): pass\n"),
        ("x\ny\n", "x = (\ny\n"),
        ("x\ny\nz\n", "x\n'''\nz\n"),
        ("x\n@f\ndef g(): pass\n", "x\n@f\n\n"),
        ("x\n'''\n'''\ny\n", "x\n''\n'''\ny\n"),
        ("x\ny\n", "x\ny\\"),
        ("x\nif y:\n    z\n", "x\nif y:\nz\n"),
        ("x\ny\n", "x\n    # comment\n    y\n"),
        ("if x:\n    y\nz\n", "if x:\n    y\n# comment\n\n  z\n"),
        ("try: x\nfinally: y\nz\n", "try: x\nfinally: y\nexcept z\n"),
        ("x\ny = (1)\nz(\n)\n", "x\ny = (1\nz(\n)\n"),
        ("x\ny\n", "x\n\ufeffy\n"),
        ("x\ny\n", "x\ny\ud800\n"),
    ],
)
def test_what_an_edit_means_elsewhere_counts(code: str, text: str) -> None:
    found = outcome(tree_after_edit, text, code, ast.parse(code), python_tree)
    assert found in {None, outcome(ast.parse, text)}


def test_a_file_that_could_not_be_parsed_lends_nothing() -> None:
    text = "x = 1\0\n"
    before = Source.from_text("a.py", text)
    again = Source.from_text("a.py", text, before=before)
    assert [problem.code for problem in again.problems] == ["LLM000"]
    large = Source.from_text("a.py", "x = 1\n", max_size=2)
    assert len(Source.from_text("a.py", "x = 1\n", before=large).tree.body) == 1
