"""One file as the rest of the program sees it: its text, its tree, its positions, and the way back to its bytes."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from llm_lsp.decoding import Decoded, UndecodableError, decode, with_unix_newlines
from llm_lsp.diagnostic import Edit, Location, Position, Range
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.parsing import Parsed, Problem, empty_tree, parse, parse_cells, too_deep
from llm_lsp.snippets import Snippets
from llm_lsp.splicing import EditError, spliced
from llm_lsp.suppression import Suppressions, suppressions_in

if TYPE_CHECKING:
    from llm_lsp.logical_lines import LogicalLines
    from llm_lsp.notebook import Notebook

__all__ = ["OUTPUT_ALLOWANCE", "Cell", "EditError", "Problem", "Source", "too_deep"]

OUTPUT_ALLOWANCE = 100
"""How many times larger than its source a notebook may be with its outputs."""

_BLOCKS = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})
"""The attributes by which statements hold others."""

Kind = Literal["python", "notebook"]


class _Located(Protocol):
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class Cell(NamedTuple):
    """A code cell; its rows are rows of the module."""

    number: int
    """From 1 through all cells of the notebook, markdown too."""
    first_row: int
    last_row: int
    tags: tuple[str, ...]
    execution_count: int | None


class Source:
    """One file. Nothing of it changes; content that can't be read shows in `problems`, never as an exception."""

    path: Final[str]
    text: Final[str]
    """The module's text: `\\n` line ends, no byte-order mark, code cells one after the other, magics masked."""
    code: Final[str]
    """What was parsed: `text`, except for the rows in `masked`."""
    tree: Final[ast.Module]
    problems: Final[tuple[Problem, ...]]
    masked: Final[tuple[tuple[int, int], ...]]
    """First and last rows of what is not in `tree`: whether something is absent there is unknown."""
    decoded: Final[Decoded | None]
    """The file as written, to write it back; None where it could not be decoded."""
    data: Final[bytes]
    notebook: Final[Notebook | None]
    cells: Final[tuple[Cell, ...]]
    magic_rows: Final[frozenset[int]]
    """Rows that stand for a notebook's magics, so that no edit goes there."""
    installs: Final[tuple[str, ...]]
    """The requirements that a notebook's pip commands name, as written."""
    is_notebook: Final[bool]

    def __init__(  # noqa: PLR0913, PLR0917 (one for each attribute)
        self,
        path: str,
        text: str,
        code: str,
        tree: ast.Module,
        problems: tuple[Problem, ...],
        masked: tuple[tuple[int, int], ...],
        decoded: Decoded | None,
        data: bytes,
        notebook: Notebook | None = None,
        cells: tuple[Cell, ...] = (),
        magic_rows: frozenset[int] = frozenset(),
        installs: tuple[str, ...] = (),
        *,
        is_notebook: bool = False,
    ) -> None:
        self.path = path
        self.text = text
        self.code = code
        self.tree = tree
        self.problems = problems
        self.masked = masked
        self.decoded = decoded
        self.data = data
        self.notebook = notebook
        self.cells = cells
        self.magic_rows = magic_rows
        self.installs = installs
        self.is_notebook = is_notebook

    @classmethod
    def from_bytes(
        cls,
        path: str,
        data: bytes,
        *,
        max_size: int = 1_000_000,
        kind: Kind | None = None,
        before: Source | None = None,
    ) -> Source:
        """A file.

        Args:
            path: of the file.
            data: its content.
            max_size: bytes of source, not of a notebook's outputs.
            kind: where the path does not tell.
            before: another state of the file; where the two differ little they share most of their trees.
        """
        parsed_before = None if before is None else Parsed(before.tree, before.code)
        if (kind or _kind_of(path)) == "notebook":
            return _from_notebook(path, data, max_size, parsed_before)
        if len(data) > max_size:
            return _not_analysed(path, data, "", _too_large(len(data), max_size))
        try:
            decoded = decode(data)
        except UndecodableError as error:
            text = with_unix_newlines(data.decode("utf-8", "replace"))
            return _not_analysed(path, data, text, _problem("LLM000", error.message, error.row, error.column))
        return _from_text(path, data, decoded, parsed_before)

    @classmethod
    def from_text(
        cls,
        path: str,
        text: str,
        *,
        max_size: int = 1_000_000,
        kind: Kind | None = None,
        before: Source | None = None,
    ) -> Source:
        """As `from_bytes`, for text that is decoded already, such as an editor's buffer; it is written as UTF-8."""
        data = text.encode("utf-8", "replace")
        if (kind or _kind_of(path)) == "notebook" or len(data) > max_size:
            return cls.from_bytes(path, data, max_size=max_size, kind=kind, before=before)
        parsed_before = None if before is None else Parsed(before.tree, before.code)
        return _from_text(path, data, Decoded(data.decode(), "utf-8", b""), parsed_before)

    @cached_property
    def lines(self) -> list[str]:
        """The rows of `text`, without their line ends."""
        return self.text.split("\n")

    @cached_property
    def code_lines(self) -> list[str]:
        """The rows of `code`, without their line ends."""
        return self.code.split("\n")

    @cached_property
    def code_starts(self) -> list[int]:
        """The offset in `code` at which each row starts, and that of one more row."""
        return [0, *accumulate(len(line) + 1 for line in self.code_lines)]

    @cached_property
    def logical_lines(self) -> LogicalLines:
        """The logical lines and comments of `text`."""
        from llm_lsp.logical_lines import LogicalLines, scan

        if not self.cells:
            return scan(self.text)
        parts = [scan("\n".join(self.lines[cell.first_row - 1 : cell.last_row]), cell.first_row) for cell in self.cells]
        return LogicalLines(
            tuple(span for part in parts for span in part.spans),
            tuple(comment for part in parts for comment in part.comments),
        )

    @cached_property
    def statements(self) -> Sequence[ast.stmt]:
        """All statements of `tree`, those in blocks too, in the order of `ast.walk`, which takes ten times as long."""
        found: list[ast.AST] = [self.tree]
        for each in found:
            for field in each._fields:
                if field in _BLOCKS:
                    found += getattr(each, field)
        return [each for each in found if isinstance(each, ast.stmt)]

    @cached_property
    def snippets(self) -> Snippets:
        """The snippets of code in `text`."""
        return Snippets(self.text)

    @cached_property
    def is_ascii(self) -> bool:
        """Whether columns are byte offsets."""
        return self.text.isascii()

    def range_of(self, node: ast.AST) -> Range:
        """Where a node that has a position lies in the module."""
        located = cast("_Located", node)
        row, end_row = located.lineno, located.end_lineno or located.lineno
        offset, end_offset = located.col_offset, located.end_col_offset or 0
        if self.is_ascii:
            return Range(Position(row, offset + 1), Position(end_row, end_offset + 1))
        return Range(Position(row, self._column(row, offset)), Position(end_row, self._column(end_row, end_offset)))

    def holds(self, node: ast.AST) -> bool:
        """Whether a node that has a position is one of `tree`; of the statements only those at its row are looked into."""
        row = cast("_Located", node).lineno
        pending: list[ast.AST] = [self.tree]
        for each in pending:
            if each is node:
                return True
            for field in each._fields:
                pending += _parts_at(row, getattr(each, field, None))
        return False

    def _column(self, row: int, offset: int) -> int:
        line = self.lines[row - 1] if row <= len(self.lines) else ""
        if line.isascii():
            return offset + 1
        return len(line.encode()[:offset].decode("utf-8", "replace")) + 1

    def segment(self, range: Range) -> str:
        """The text at `range`; what lies outside the module is empty."""
        start, end = range.start, range.end
        rows = self.lines[start.row - 1 : end.row]
        if not rows:
            return ""
        if len(rows) == end.row - start.row + 1:
            rows[-1] = rows[-1][: end.column - 1]
        rows[0] = rows[0][start.column - 1 :]
        return "\n".join(rows)

    def locate(self, range: Range) -> Location:
        """What a person sees: the cell, and the range inside it; a range that leaves its first row's cell is cut."""
        if not self.cells:
            return Location(self.path, None, range)
        cell = self._cell_at(range.start.row)
        before = cell.first_row - 1
        end = min(range.end, Position(cell.last_row + 1, 1))
        return Location(
            self.path,
            cell.number,
            Range(
                Position(range.start.row - before, range.start.column),
                Position(end.row - before, end.column),
            ),
        )

    def below(self, row: int) -> Location:
        """The empty location at the start of the row after `row`, in the cell of `row`: there a line is inserted."""
        if not self.cells:
            return Location(self.path, None, Range(Position(row + 1, 1), Position(row + 1, 1)))
        cell = self._cell_at(row)
        here = Position(row + 2 - cell.first_row, 1)
        return Location(self.path, cell.number, Range(here, here))

    def _cell_at(self, row: int) -> Cell:
        starts = [cell.first_row for cell in self.cells]
        return self.cells[max(0, bisect_right(starts, row) - 1)]

    def statement_rows(self, row: int) -> tuple[int, int]:
        """First and last row of the statement, or of the compound statement's header, that holds `row`."""
        return self.logical_lines.span_of(row)

    def with_edits(self, edits: Sequence[Edit]) -> bytes:
        """The file's bytes after `edits`, which must not overlap; raises EditError where the file can't take one.

        A line inserted after the last one (`below`) leaves the file with or without a final line end, as it was.
        """
        if not edits:
            return self.data
        if self.decoded is None:
            raise EditError(f"`{self.path}` could not be read, so it can't be edited")
        if self.notebook is not None:
            return self.notebook.with_edits(edits)
        changes = [(edit.location.range, edit.content) for edit in edits]
        return _encoded(self.decoded, spliced(self.decoded.text, changes), self.path, self.data)

    @property
    def executed_in_order(self) -> bool:
        """False where a notebook's execution counts contradict the order of its cells."""
        counts = [cell.execution_count for cell in self.cells if cell.execution_count is not None]
        return all(before < after for before, after in pairwise(counts))

    @property
    def parameter_rows(self) -> tuple[tuple[int, int], ...]:
        """First and last rows of the cells that are tagged `parameters`: their values may be others at run time."""
        return tuple((cell.first_row, cell.last_row) for cell in self.cells if "parameters" in cell.tags)

    @cached_property
    def suppressions(self) -> Suppressions:
        """What the comments of this file suppress."""
        return suppressions_in(self.text, self.lines, lambda: self.logical_lines)


def _kind_of(path: str) -> Kind:
    return "notebook" if path.lower().endswith(".ipynb") else "python"


def _problem(code: str, message: str, row: int = 1, column: int = 1) -> Problem:
    here = Position(row, column)
    return Problem(code, message, Range(here, here))


def _too_large(size: int, limit: int) -> Problem:
    message = f"{size:,} bytes of source are more than the setting `max-source-size` ({limit:,}) lets through"
    return _problem("LLM002", message)


def _not_analysed(path: str, data: bytes, text: str, problem: Problem, *, is_notebook: bool = False) -> Source:
    masked = ((1, text.count("\n") + 1),)
    return Source(path, text, text, empty_tree(), (problem,), masked, None, data, is_notebook=is_notebook)


def _from_text(path: str, data: bytes, decoded: Decoded, before: Parsed | None) -> Source:
    text = with_unix_newlines(decoded.text)
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        column = text.index("\0") - text.rfind("\n", 0, text.index("\0"))
        message = f"there is a null byte at offset {data.find(0)}, so Python refuses the file; remove it"
        return _not_analysed(path, data, text, _problem("LLM000", message, row, column))
    parsed = parse(text, before)
    return Source(path, text, parsed.code, parsed.tree, parsed.problems, parsed.masked, decoded, data)


def _parts_at(row: int, value: object) -> Sequence[ast.AST]:
    """The nodes that the attribute of a node holds; of a block the statements that share a row."""
    if not isinstance(value, list):
        return (value,) if isinstance(value, ast.AST) else ()
    parts = cast("list[object]", value)
    if not parts or not isinstance(parts[0], ast.stmt):
        return [part for part in parts if isinstance(part, ast.AST)]
    block = cast("list[ast.stmt]", value)
    first = bisect_left(block, row, key=lambda statement: statement.end_lineno or statement.lineno)
    return block[first : bisect_right(block, row, first, key=_first_row)]


def _first_row(statement: ast.stmt) -> int:
    """A definition begins with its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return decorators[0].lineno if decorators else statement.lineno


def _encoded(decoded: Decoded, text: str, path: str, before: bytes) -> bytes:
    try:
        if decoded.encode(decoded.text) == before:
            return decoded.encode(text)
        message = f"`{path}` can't be written back in its encoding `{decoded.encoding}`"
    except UnicodeEncodeError as error:
        message = f"`{text[error.start]}` can't be written in the encoding `{decoded.encoding}` of `{path}`"
    except UnicodeError:
        message = f"`{path}` can't be written back in its encoding `{decoded.encoding}`"
    raise EditError(message)


def _from_notebook(path: str, data: bytes, max_size: int, before: Parsed | None) -> Source:
    from llm_lsp.notebook import NotebookError, read_notebook

    if len(data) > OUTPUT_ALLOWANCE * max_size:
        message = f"{len(data):,} bytes are too many for a notebook; clear its outputs"
        return _not_analysed(path, data, "", _problem("LLM002", message), is_notebook=True)
    try:
        notebook = read_notebook(data)
    except NotebookError as error:
        text = with_unix_newlines(data.decode("utf-8", "replace"))
        problem = _problem("LLM000", error.message, error.row, error.column)
        return _not_analysed(path, data, text, problem, is_notebook=True)
    except RecursionError:
        return _not_analysed(path, data, "", too_deep(), is_notebook=True)
    size = sum(len(cell.text.encode()) for cell in notebook.cells)
    if size > max_size:
        return _not_analysed(path, data, "", _too_large(size, max_size), is_notebook=True)
    return _from_cells(path, data, notebook, before)


def _from_cells(path: str, data: bytes, notebook: Notebook, parsed_before: Parsed | None) -> Source:
    from llm_lsp.magics import without_magics

    texts: list[str] = []
    cells: list[Cell] = []
    unknown: list[tuple[int, int]] = []
    magic_rows: set[int] = set()
    installs: list[str] = []
    row = 1
    for cell in notebook.cells if notebook.is_python else ():
        python = without_magics(cell.text)
        text = python.text if cell.text.endswith("\n") else python.text + "\n"
        before, row = row - 1, row + text.count("\n")
        texts.append(text)
        cells.append(Cell(cell.number, before + 1, row - 1, cell.tags, cell.execution_count))
        unknown += ((first + before, last + before) for first, last in python.unknown)
        magic_rows.update(magic_row + before for magic_row in python.magic_rows)
        installs += python.installs
    parsed = parse_cells(texts, parsed_before)
    return Source(
        path,
        "".join(texts),
        parsed.code,
        parsed.tree,
        parsed.problems,
        tuple(sorted({*parsed.masked, *unknown})),
        notebook.decoded,
        data,
        notebook,
        tuple(cells),
        frozenset(magic_rows),
        tuple(installs),
        is_notebook=True,
    )
