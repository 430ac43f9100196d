"""The tree of a text that differs little from one that was parsed: what lies around the change is not parsed again."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

__all__ = ["tree_after_edit"]

_GOES_ON = re.compile(r"(?:[ \t\f]*(?:#.*)?\n)*(?:[ \t\f\\]|(?:elif|else|except|finally)\b)")
"""What goes on with the statement above, or may do so."""


def tree_after_edit(text: str, code: str, tree: ast.Module, parse: Callable[[str], ast.Module]) -> ast.Module | None:
    r"""The tree of `text`, which shares statements with that of another text; None where all of it has to be parsed.

    Where a line begins a statement of the module, the tokenizer is in no string, bracket or block, and the statement
    before has ended: what goes on with one, as `else` does, begins none. So if both texts are cut there, and what lies
    between the cuts can be parsed by itself, the statements of the parts are those of the whole.

    No tree is ever changed: where the lines below the change have other numbers now, all of them are parsed again.

    Args:
        text: with `\n` line ends, as `code`.
        code: the other text.
        tree: that of `code`.
        parse: as `ast.parse`; what it raises of the whole text is raised here.
    """
    body = tree.body
    if not body:
        return None  # perhaps of a file that could not be parsed
    begin = _common_prefix(text, code)
    end = len(code) - _common_suffix(text, code, begin)
    if begin == end and len(text) == len(code):
        return tree
    row = code.count("\n", 0, begin) + 1
    first, first_row, above = _cut_above(code, body, row, begin)
    behind, below = _cut_below(code, body, row + code.count("\n", begin, end), end)
    if text.count("\n", above, below + len(text) - len(code)) != code.count("\n", above, below):
        behind, below = len(body), len(code)
    if first == 0 and behind == len(body):
        return None
    padding = "\n" * (first_row - 1)  # gives the nodes their rows
    try:
        changed = parse(padding + text[above : below + len(text) - len(code)]).body
    except (SyntaxError, ValueError):
        if first == 0 or _GOES_ON.match(text, above):
            return None
        if behind == len(body):
            raise
        # What stands above is in order, so that the fault is found without it.
        changed, behind = parse(padding + text[above:]).body, len(body)
    return ast.Module(body=[*body[:first], *changed, *body[behind:]], type_ignores=[])


def _cut_above(code: str, body: Sequence[ast.stmt], row: int, offset: int) -> tuple[int, int, int]:
    """The last statement at or above a place that the text can be cut before; with the row and offset of the cut."""
    offset = code.rfind("\n", 0, offset) + 1
    for index in range(bisect_right(body, row, key=_first_row) - 1, 0, -1):
        wanted = _first_row(body[index])
        while row > wanted:
            offset = code.rfind("\n", 0, offset - 1) + 1
            row -= 1
        if _is_cut(code, body, index, offset):
            return index, row, offset
    return 0, 1, 0


def _cut_below(code: str, body: Sequence[ast.stmt], row: int, offset: int) -> tuple[int, int]:
    """The first statement in a row below a place that the text can be cut before; with the offset of the cut."""
    for index in range(max(1, bisect_right(body, row, key=_first_row)), len(body)):
        wanted = _first_row(body[index])
        while row < wanted:
            offset = code.index("\n", offset) + 1
            row += 1
        if _is_cut(code, body, index, offset):
            return index, offset
    return len(body), len(code)


def _is_cut(code: str, body: Sequence[ast.stmt], index: int, offset: int) -> bool:
    """Whether the line at `offset`, in which a statement begins as far as its nodes tell, begins with that statement."""
    statement = body[index]
    if code.endswith("\\\n", 0, offset):
        return False
    # The node of a decorator begins behind its `@`, which may stand in a line above.
    return code.startswith("@", offset) if _decorators(statement) else statement.col_offset == 0


def _first_row(statement: ast.stmt) -> int:
    decorators = _decorators(statement)
    return decorators[0].lineno if decorators else statement.lineno


def _decorators(statement: ast.stmt) -> Sequence[ast.expr]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.decorator_list
    return ()


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(one: str, other: str, prefix: int) -> int:
    """So many characters at the end of both are the same, none of them in the common prefix of that length."""
    low, high = 0, min(len(one), len(other)) - prefix
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
