"""Changes to whole statements: one more beside them, a block around them, a decorator above them."""

from __future__ import annotations

import ast

from llm_lsp.diagnostic import Range
from llm_lsp.fixes.layout import FUNCTIONS, Layout, Placed, Splice, Token, Unfixable, tokens_of

__all__ = [
    "decorate",
    "delete",
    "function_at",
    "insert_after",
    "insert_before",
    "string_rows",
    "wrap",
    "wrap_following",
]


def insert_before(layout: Layout, place: Range, statement: str) -> list[Splice]:
    """A statement above the one that holds `place`, and above its decorators."""
    placed = layout.holder(place)
    anchor = placed.statement
    indentation = layout.indentation(anchor)
    if _is_docstring(placed, placed.index) or _is_future(anchor):
        raise Unfixable("nothing may stand before a docstring or a future import")
    _check_alone(layout, placed, placed.index)
    start = layout.line_start(layout.first_row(anchor))
    return [Splice(start, start, _indented(statement, indentation, layout.unit(placed)) + "\n")]


def insert_after(layout: Layout, place: Range, statement: str) -> list[Splice]:
    """A statement below the one that holds `place`, and below the comments that belong to its body."""
    placed = layout.holder(place)
    anchor = placed.statement
    indentation = layout.indentation(anchor)
    _check_alone(layout, placed, placed.index)
    layout.check_ends_its_line(anchor)
    end = layout.line_end(_last_row_with_comments(layout, anchor, indentation))
    return [Splice(end, end, "\n" + _indented(statement, indentation, layout.unit(placed)))]


def delete(layout: Layout, place: Range) -> list[Splice] | None:
    """The lines of the statement that is exactly `place`, or None where `place` is no statement."""
    try:
        placed = layout.holder(place)
    except Unfixable:
        return None
    statement = placed.statement
    start, end = layout.start(statement), layout.span(statement)[1]
    if (start, end) != (layout.offset(place.start), layout.offset(place.end)):
        return None
    layout.indentation(statement)
    _check_alone(layout, placed, placed.index)
    layout.check_ends_its_line(statement)
    if len(placed.block) == 1 and placed.parents:
        return [Splice(start, end, "pass")]
    first, last = layout.first_row(statement), layout.last_row(statement)
    following = layout.line_end(last) + 1
    if following <= len(layout.text) and not layout.ends_cell(last):
        return [Splice(layout.line_start(first), following, "")]
    return [Splice(layout.line_start(first), layout.line_end(last), "")]


def wrap(layout: Layout, first: Range, last: Range, header: str) -> tuple[list[Splice], int, int]:
    """The statements from `first` to `last` under `header`: the splices, and the offsets that they claim whole."""
    upper, lower = layout.holder(first), layout.holder(last)
    if upper.block is not lower.block or upper.index > lower.index:
        raise Unfixable("the statements do not stand in one block")
    return _wrap(layout, upper, lower.index, header)


def wrap_following(layout: Layout, first: Range, header: str) -> tuple[list[Splice], int, int]:
    """The same from `first` to the end of its block."""
    placed = layout.holder(first)
    return _wrap(layout, placed, len(placed.block) - 1, header)


def _wrap(layout: Layout, placed: Placed, last_index: int, header: str) -> tuple[list[Splice], int, int]:
    first, last = placed.statement, placed.block[last_index]
    indentation, unit = layout.indentation(first), layout.unit(placed)
    wrapped = range(placed.index, last_index + 1)
    if any(_is_docstring(placed, index) or _is_future(placed.block[index]) for index in wrapped):
        raise Unfixable("a docstring or a future import stays where it is")
    for index in (placed.index, last_index):
        _check_alone(layout, placed, index)
    layout.check_ends_its_line(last)
    first_row, last_row = layout.first_row(first), _last_row_with_comments(layout, last, indentation)
    start, end = layout.line_start(first_row), layout.line_end(last_row)
    kept = string_rows(layout.text, layout.tokens(start, end), first_row)
    splices = [Splice(start, start, f"{indentation}{header}\n")]
    for row in range(first_row, last_row + 1):
        line = layout.lines[row - 1]
        if row not in kept and line.strip():
            at = layout.line_start(row) + _indentation_point(line, indentation)
            splices.append(Splice(at, at, unit))
    return splices, start, end


def decorate(layout: Layout, place: Range, decorator: str) -> list[Splice]:
    """`@decorator` right above the `def` or `async def` of the function at `place`."""
    function = function_at(layout, place)
    expression = decorator.removeprefix("@")
    wanted = ast.dump(ast.parse(expression, mode="eval").body)
    if any(ast.dump(one) == wanted for one in function.decorator_list):
        return []
    layout.start(function)
    indentation = layout.indentation_of_row(function.lineno, layout.span(function)[0])
    start = layout.line_start(function.lineno)
    return [Splice(start, start, f"{indentation}@{expression}\n")]


def function_at(layout: Layout, place: Range) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The innermost function whose definition or body holds `place`."""
    placed = layout.holder(place)
    function = next((one for one in (placed.statement, *reversed(placed.parents)) if isinstance(one, FUNCTIONS)), None)
    if function is None:
        raise Unfixable("no function there")
    if _inside_lambda(layout, placed.statement, place):
        raise Unfixable("a lambda takes no decorator")
    return function


def string_rows(text: str, tokens: list[Token], first_row: int) -> set[int]:
    """The rows that begin inside a string, when the row that holds the first token is `first_row`."""
    rows: set[int] = set()
    depth, opened = 0, 0
    row, at = first_row, tokens[0].start if tokens else 0
    for one in tokens:
        row += text.count("\n", at, one.start)
        at = one.start
        starts, ends = one.kind.endswith("STRING_START"), one.kind.endswith("STRING_END")
        if starts:
            opened = opened if depth else row
            depth += 1
        elif ends:
            depth -= 1
        if one.kind == "STRING" or (ends and not depth):
            begin = row if one.kind == "STRING" else opened
            rows.update(range(begin + 1, row + text.count("\n", one.start, one.end) + 1))
    return rows


def _indented(statement: str, indentation: str, unit: str) -> str:
    """A statement written with steps of four spaces, in the file's steps; lines inside a string stay as they are."""
    if "\n" not in statement:
        return indentation + statement
    kept = string_rows(statement, tokens_of(statement), 1)
    lines: list[str] = []
    for row, line in enumerate(statement.split("\n"), start=1):
        if row in kept or not line.strip():
            lines.append(line)
            continue
        steps, rest = divmod(len(line) - len(line.lstrip(" ")), 4)
        lines.append(indentation + unit * steps + " " * rest + line.lstrip(" "))
    return "\n".join(lines)


def _indentation_point(line: str, indentation: str) -> int:
    """Where in the line one more step goes: after the block's own indentation, which may follow a form feed."""
    blanks = len(line) - len(line.lstrip(" \t\f"))
    begin = line.rfind("\f", 0, blanks) + 1
    return begin + len(indentation) if line.startswith(indentation, begin) else begin


def _last_row_with_comments(layout: Layout, statement: ast.stmt, indentation: str) -> int:
    """The last row of a statement, or of the comments below that are indented as its body is."""
    last = layout.last_row(statement)
    if not any(getattr(statement, name, None) for name in ("body", "cases")):
        return last
    width = len(indentation.expandtabs())
    for row in range(last + 1, len(layout.lines) + 1):
        line = layout.lines[row - 1].expandtabs()
        text = line.lstrip()
        if text and (not text.startswith("#") or len(line) - len(text) <= width):
            break
        if text:
            last = row
        if layout.ends_cell(row):
            break
    return last


def _check_alone(layout: Layout, placed: Placed, index: int) -> None:
    """No other statement of the block may stand on the statement's lines."""
    statement = placed.block[index]
    first, last = layout.first_row(statement), layout.last_row(statement)
    for other in placed.block[max(index - 1, 0) : index + 2]:
        if other is not statement and layout.first_row(other) <= last and layout.last_row(other) >= first:
            raise Unfixable("two statements on one line")


def _is_docstring(placed: Placed, index: int) -> bool:
    statement = placed.block[index]
    if index or not isinstance(statement, ast.Expr):
        return False
    literal = isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    owned = not placed.parents or isinstance(placed.parents[-1], (*FUNCTIONS, ast.ClassDef))
    return literal and owned


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__" and not statement.level


def _inside_lambda(layout: Layout, statement: ast.stmt, place: Range) -> bool:
    start, end = layout.offset(place.start), layout.offset(place.end)
    for node in ast.walk(statement):
        if isinstance(node, ast.Lambda) and node.lineno <= place.start.row:
            body_start, body_end = layout.span(node.body)
            if body_start <= start and end <= body_end:
                return True
    return False
