"""One file as the rest of the program sees it: its text, its tree, its positions, and the way back to its bytes."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, cast

from llm_lsp.decoding import Decoded, NotDecodable, decode, with_newlines_of, with_unix_newlines
from llm_lsp.diagnostic import Edit, Location, Position, Range
from llm_lsp.parsing import Parsed, Problem, empty_tree, parse, too_deep

if TYPE_CHECKING:
    from llm_lsp.logical_lines import LogicalLines
    from llm_lsp.notebook import Notebook
    from llm_lsp.suppression import Suppressions

__all__ = ["Cell", "EditError", "Problem", "Source", "too_deep"]

Kind = Literal["python", "notebook"]


class EditError(ValueError):
    """An edit that this file can't take; the message says why."""


class _Located(Protocol):
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell; its rows are rows of the module."""

    number: int
    """From 1 through all cells of the notebook, markdown too."""
    first_row: int
    last_row: int
    tags: tuple[str, ...]
    execution_count: int | None


@dataclass(frozen=True, eq=False)
class Source:
    """One file. Nothing of it changes; content that can't be read shows in `problems`, never as an exception."""

    path: str
    text: str
    """The module's text: `\\n` line ends, no byte-order mark, code cells one after the other, magics masked."""
    code: str
    """What was parsed: `text`, except for the rows in `masked`."""
    tree: ast.Module
    problems: tuple[Problem, ...]
    masked: tuple[tuple[int, int], ...]
    """First and last rows of what is not in `tree`: whether something is absent there is unknown."""
    decoded: Decoded | None
    """The file as written, to write it back; None where it could not be decoded."""
    data: bytes
    notebook: Notebook | None = None
    cells: tuple[Cell, ...] = ()
    is_notebook: bool = False

    @classmethod
    def from_bytes(cls, path: str, data: bytes, *, max_size: int = 1_000_000, kind: Kind | None = None) -> Source:
        """The file `path` with the content `data`; `max_size` counts bytes of source, outputs of a notebook are none."""
        if (kind or _kind_of(path)) == "notebook":
            return _from_notebook(path, data, max_size)
        if len(data) > max_size:
            return _not_analysed(path, data, "", _too_large(len(data), max_size))
        try:
            decoded = decode(data)
        except NotDecodable as error:
            text = with_unix_newlines(data.decode("utf-8", "replace"))
            return _not_analysed(path, data, text, _problem("LLM000", error.message, error.row, error.column))
        return _from_text(path, data, decoded)

    @classmethod
    def from_text(cls, path: str, text: str, *, max_size: int = 1_000_000, kind: Kind | None = None) -> Source:
        """As `from_bytes`, for text that is decoded already, such as an editor's buffer; it is written as UTF-8."""
        data = text.encode("utf-8", "replace")
        if (kind or _kind_of(path)) == "notebook" or len(data) > max_size:
            return cls.from_bytes(path, data, max_size=max_size, kind=kind)
        return _from_text(path, data, Decoded(data.decode(), "utf-8", b""))

    @cached_property
    def lines(self) -> list[str]:
        """The rows of `text`, without their line ends."""
        return self.text.split("\n")

    @cached_property
    def logical_lines(self) -> LogicalLines:
        """The logical lines and comments of `text`."""
        from llm_lsp.logical_lines import scan

        return scan(self.text)

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
        text = spliced(self.decoded.text, [(edit.location.range, edit.content) for edit in edits])
        try:
            if self.decoded.encode(self.decoded.text) != self.data:
                raise EditError(f"`{self.path}` can't be written back in its encoding `{self.decoded.encoding}`")
            return self.decoded.encode(text)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise EditError(f"`{character}` can't be written in the encoding `{self.decoded.encoding}`") from None

    @property
    def executed_in_order(self) -> bool:
        """False where a notebook's execution counts contradict the order of its cells."""
        counts = [cell.execution_count for cell in self.cells if cell.execution_count is not None]
        return all(before < after for before, after in zip(counts, counts[1:]))

    @property
    def parameter_rows(self) -> tuple[tuple[int, int], ...]:
        """First and last rows of the cells that are tagged `parameters`: their values may be others at run time."""
        return tuple((cell.first_row, cell.last_row) for cell in self.cells if "parameters" in cell.tags)

    @property
    def installs(self) -> tuple[str, ...]:
        """The requirements that a notebook installs, as written."""
        return self.notebook.installs if self.notebook else ()

    @cached_property
    def suppressions(self) -> Suppressions:
        """What the comments of this file suppress."""
        from llm_lsp.suppression import suppressions_of

        return suppressions_of(self)


def spliced(written: str, edits: Sequence[tuple[Range, str]]) -> str:
    """`written`, whatever its line ends, after edits that must not overlap; raises EditError.

    Inserted text gets the line ends of `written`; what is inserted at one place keeps the order of `edits`.
    """
    starts = _line_starts(written)
    pieces: list[str] = []
    done = 0
    for range_, content in sorted(edits, key=lambda edit: edit[0]):
        start, end = (_offset(written, starts, place) for place in (range_.start, range_.end))
        if start < done or end < start:
            raise EditError(f"edits overlap at row {range_.start.row}, column {range_.start.column}")
        text = with_newlines_of(written, content)
        if range_.start.row == len(starts) + 1:
            text = with_newlines_of(written, "\n" + content.removesuffix("\n"))
        pieces += written[done:start], text
        done = end
    return "".join([*pieces, written[done:]])


def _line_starts(written: str) -> list[int]:
    starts = [0]
    position = 0
    for line in with_unix_newlines(written).split("\n")[:-1]:
        position += len(line)
        position += 2 if written.startswith("\r\n", position) else 1
        starts.append(position)
    return starts


def _offset(written: str, starts: list[int], place: Position) -> int:
    """The offset of `place`; the row after the last one is the end of the text."""
    if place.row == len(starts) + 1 and place.column == 1:
        return len(written)
    if not 1 <= place.row <= len(starts):
        raise EditError(f"there is no row {place.row}")
    end = starts[place.row] if place.row < len(starts) else len(written)
    width = len(written[starts[place.row - 1] : end].rstrip("\r\n"))
    if not 1 <= place.column <= width + 1:
        raise EditError(f"row {place.row} has no column {place.column}")
    return starts[place.row - 1] + place.column - 1


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


def _from_text(path: str, data: bytes, decoded: Decoded) -> Source:
    text = with_unix_newlines(decoded.text)
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        column = text.index("\0") - text.rfind("\n", 0, text.index("\0"))
        message = f"there is a null byte at offset {data.find(0)}, so Python refuses the file; remove it"
        return _not_analysed(path, data, text, _problem("LLM000", message, row, column))
    parsed = parse(text)
    return Source(path, text, parsed.code, parsed.tree, parsed.problems, parsed.masked, decoded, data)


def _from_notebook(path: str, data: bytes, max_size: int) -> Source:
    raise NotImplementedError(path, data, max_size, Parsed)
