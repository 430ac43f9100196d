"""Where the statements, lines and tokens of one source lie, in offsets into its text.

`ast` gives the places; nothing here restructures code. Everything that can't be edited without a guess raises
`Unfixable`, which `realise` turns into "no fix".
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from llm_lsp.diagnostic import Position, Range
from llm_lsp.fixes.bindings import ModuleNames
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.source import Source

__all__ = [
    "FUNCTIONS",
    "Layout",
    "Placed",
    "Splice",
    "Token",
    "Unfixable",
    "blocks",
    "comments",
    "spliced",
    "tokens_of",
]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Unfixable(Exception):  # noqa: N818  it says that there is no fix, which is no error
    """This change can't be made without a guess."""


class Splice(NamedTuple):
    """The text between two offsets becomes `content`; equal offsets insert."""

    start: int
    end: int
    content: str


class Token(NamedTuple):
    """One token of the text, line ends and indentation left out; `kind` is its name in `token`."""

    kind: str
    text: str
    start: int
    end: int


class Placed:
    """A statement, the block it stands in, and the statements around it from the outside in."""

    __slots__ = ("block", "index", "parents")

    def __init__(self, block: list[ast.stmt], index: int, parents: tuple[ast.stmt, ...]) -> None:
        self.block = block
        self.index = index
        self.parents = parents

    @property
    def statement(self) -> ast.stmt:
        return self.block[self.index]


class Layout:
    """The text of a source as lines and offsets, and its tree as statements at places."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = source.tree
        self.text = source.code
        self.lines = source.code_lines
        self._starts = source.code_starts

    @classmethod
    @lru_cache(maxsize=1)
    def of(cls, source: Source) -> Layout:
        """The layout of a source; the fixes of one file are realised one after the other."""
        return cls(source)

    # ------------------------------------------------------------ offsets

    def line_start(self, row: int) -> int:
        return self._starts[row - 1]

    def line_end(self, row: int) -> int:
        """The offset of the line feed that ends the row."""
        return self._starts[row] - 1

    def row(self, offset: int) -> int:
        return bisect_right(self._starts, offset, hi=len(self.lines))

    def offset(self, position: Position) -> int:
        if (
            not 1 <= position.row <= len(self.lines)
            or not 1 <= position.column <= len(self.lines[position.row - 1]) + 1
        ):
            raise Unfixable("a place outside the text")
        return self.line_start(position.row) + position.column - 1

    def position(self, offset: int) -> Position:
        row = self.row(offset)
        return Position(row, offset - self.line_start(row) + 1)

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword) -> tuple[int, int]:
        """First and last offset of a node, without its decorators."""
        place = self.source.range_of(node)
        return self.offset(place.start), self.offset(place.end)

    # ------------------------------------------------------------ statements

    def start(self, statement: ast.stmt) -> int:
        """Where a statement begins, at the `@` of its first decorator where it has one."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        if not decorators:
            return self.span(statement)[0]
        start = self.span(decorators[0])[0]
        line = self.line_start(self.row(start))
        before = self.text[line:start]
        if before.strip(" \t\f(") != "@":
            raise Unfixable("a decorator that does not begin its line")
        return line + before.index("@")

    def first_row(self, statement: ast.stmt) -> int:
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        return decorators[0].lineno if decorators else statement.lineno

    def last_row(self, statement: ast.stmt) -> int:
        return statement.end_lineno or statement.lineno

    def on_rows(self, block: list[ast.stmt], first: int, last: int) -> list[ast.stmt]:
        """The statements of a block that have a part on one of these rows."""
        begin = bisect_left(block, first, key=self.last_row)
        return block[begin : bisect_right(block, last, begin, key=self.first_row)]

    def above(self, block: list[ast.stmt], row: int) -> list[ast.stmt]:
        """The statements of a block that end above a row."""
        return block[: bisect_left(block, row, key=self.last_row)]

    @cached_property
    def names(self) -> ModuleNames:
        """What the statements of the module bind."""
        return ModuleNames(self.tree.body, self.text)

    def holder(self, place: Range) -> Placed:
        """The innermost statement that holds the range; an `elif` is part of its `if`."""
        found: Placed | None = None
        parents: tuple[ast.stmt, ...] = ()
        pending = [self.tree.body]
        while pending:
            block = pending.pop()
            index = self._index(block, place)
            if index is not None:
                found = Placed(block, index, parents)
                parents = (*parents, block[index])
                pending = list(blocks(block[index], self))
        if found is None:
            raise Unfixable("no statement there")
        return found

    def _index(self, block: Sequence[ast.stmt], place: Range) -> int | None:
        for index in range(bisect_left(block, place.end.row, key=self.last_row), len(block)):
            statement = block[index]
            if self.first_row(statement) > place.start.row:
                return None
            end = self.source.range_of(statement).end
            if place.end <= end and self.offset(place.start) >= self.start(statement):
                return index
        return None

    def indentation(self, statement: ast.stmt) -> str:
        """The blanks before a statement that begins its line."""
        start = self.start(statement)
        return self.indentation_of_row(self.row(start), start)

    def indentation_of_row(self, row: int, start: int) -> str:
        """The blanks of a row before the offset `start`, where there is nothing else."""
        before = self.text[self.line_start(row) : start]
        if before.strip():
            raise Unfixable("the statement does not begin its line")
        if row > 1 and self.lines[row - 2].endswith("\\"):
            raise Unfixable("the line above continues on this one")
        return before.rpartition("\f")[2]

    def begins_line(self, statement: ast.stmt, at_most: int | None) -> bool:
        """Whether only blanks stand before a statement, `at_most` so many."""
        try:
            indentation = self.indentation(statement)
        except Unfixable:
            return False
        return at_most is None or len(indentation) <= at_most

    def check_ends_its_line(self, statement: ast.stmt) -> None:
        """Nothing but blanks, one idle semicolon and a comment may follow on the statement's last line."""
        row = self.last_row(statement)
        rest = self.text[self.span(statement)[1] : self.line_end(row)].strip()
        rest = rest.removeprefix(";").lstrip()
        if rest and not rest.startswith("#"):
            raise Unfixable("something follows on the statement's line")

    def unit(self, placed: Placed) -> str:
        """One step of indentation: that of the block itself, else the file's most common one."""
        if placed.parents and not isinstance(placed.parents[-1], ast.Match):
            step = self._step(placed.parents[-1], placed.block[0])
            if step:
                return step
        return self._usual_step

    @cached_property
    def _usual_step(self) -> str:
        steps = Counter(step for step in self._steps() if step)
        return steps.most_common(1)[0][0] if steps else "    "

    def _step(self, outer: ast.stmt, inner: ast.stmt) -> str | None:
        try:
            around, inside = self.indentation(outer), self.indentation(inner)
        except Unfixable:
            return None
        return inside.removeprefix(around) if inside.startswith(around) else None

    def _steps(self) -> Iterator[str | None]:
        pending = list(self.tree.body)
        while pending:
            statement = pending.pop()
            for block in blocks(statement, self):
                if not isinstance(statement, ast.Match):
                    yield self._step(statement, block[0])
                pending.extend(block)

    # ------------------------------------------------------------ cells

    def cell(self, row: int) -> int | None:
        """The number of the notebook cell that holds a row."""
        return next((one.number for one in self.source.cells if one.first_row <= row <= one.last_row), None)

    def ends_cell(self, row: int) -> bool:
        return any(one.last_row == row for one in self.source.cells)

    def is_masked(self, first: int, last: int) -> bool:
        """Whether one of these rows is not what the file says, but what could be parsed instead."""
        if not self.source.magic_rows.isdisjoint(range(first, last + 1)):
            return True
        return any(begin <= last and first <= end for begin, end in self.source.masked)

    def first_code_row(self) -> int:
        """The first row of a notebook that is Python, below the magics that lead the first cell which has any."""
        for cell in self.source.cells:
            for row in range(cell.first_row, cell.last_row + 1):
                if self.lines[row - 1].strip() and not self.is_masked(row, row):
                    return row
        raise Unfixable("no cell holds code")

    # ------------------------------------------------------------ tokens

    def tokens(self, start: int, end: int) -> list[Token]:
        """The tokens between two offsets; `start` must begin a logical line."""
        return tokens_of(self.text, start, end)

    def check_row_break(self, row: int) -> None:
        """A line may be inserted above `row` at module level: no statement crosses, no line continues."""
        if row > 1 and row <= len(self.lines) and self.lines[row - 2].endswith("\\"):
            raise Unfixable("the line above continues on this one")
        if any(self.first_row(one) < row for one in self.on_rows(self.tree.body, row, row)):
            raise Unfixable("a statement crosses this line")


def blocks(statement: ast.stmt, layout: Layout) -> Iterator[list[ast.stmt]]:
    """The blocks inside a statement, those of its `elif` branches included."""
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(statement, name, [])
        if name == "orelse" and _is_elif(block, layout):
            yield from blocks(block[0], layout)
        elif block:
            yield block
    for name in ("handlers", "cases"):
        parts: list[ast.ExceptHandler | ast.match_case] = getattr(statement, name, [])
        yield from (part.body for part in parts)


def _is_elif(block: Sequence[ast.stmt], layout: Layout) -> bool:
    if len(block) != 1 or not isinstance(block[0], ast.If):
        return False
    return layout.text.startswith("elif", layout.span(block[0])[0])


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """The text after splices, given in order of their places, none of which overlap."""
    parts: list[str] = []
    last = 0
    for splice in splices:
        parts += (text[last : splice.start], splice.content)
        last = splice.end
    return "".join((*parts, text[last:]))


def tokens_of(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of `text` that begin between two offsets; `start` must begin a line that begins a statement."""
    import token
    import tokenize

    end = len(text) if end is None else end
    start = text.rfind("\n", 0, start) + 1
    lines: list[str] = []
    starts: list[int] = []

    def read() -> str:
        begin = starts[-1] + len(lines[-1]) if lines else start
        line_end = text.find("\n", begin) + 1 or len(text)
        starts.append(begin)
        lines.append(text[begin:line_end])
        return lines[-1]

    ends = {token.NEWLINE, token.NL}
    indentation = {token.INDENT, token.DEDENT, token.ENDMARKER}
    found: list[Token] = []
    try:
        for one in tokenize.generate_tokens(read):
            if one.type in indentation:
                continue
            begin = starts[one.start[0] - 1] + one.start[1]
            # Stop at the line end already: the next line may go back to an indentation that was not seen here.
            if begin >= end:
                break
            if one.type in ends:
                continue
            found.append(Token(token.tok_name[one.type], one.string, begin, starts[one.end[0] - 1] + one.end[1]))
    except (tokenize.TokenError, SyntaxError) as error:
        raise Unfixable("the text has no tokens") from error
    return found


def comments(text: str) -> list[str]:
    """The comments of a text, in order."""
    if "#" not in text:
        return []
    return [one.text for one in tokens_of(text) if one.kind == "COMMENT"]
