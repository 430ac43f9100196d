"""What a report is made from: the diagnostics and the lines that they quote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from llm_lsp.diagnostic import Diagnostic, Location, Range
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.source import Source

__all__ = ["QuotedLines", "Results", "place", "quoted_rows"]

_WHOLE = 4
"""A range of up to this many rows is quoted whole, a longer one by its first and last row."""


class QuotedLines:
    """The lines that diagnostics point at, kept when the file they come from is dropped."""

    def __init__(self, load: Callable[[str], Source | None]) -> None:
        """`load` reads a file by the path of a location, for places in files that were not kept."""
        self._load = load
        self._lines: dict[tuple[str, int | None, int], str] = {}
        self._loaded: dict[str, Source | None] = {}

    def keep(self, source: Source, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep what `diagnostics` quote of `source`; places in other files are read when they are asked for."""
        for location in _locations(diagnostics):
            if location.path != source.path:
                continue
            for row in quoted_rows(location.range):
                line = _line(source, location.cell, row)
                if line is not None:
                    self._lines[location.path, location.cell, row] = line

    def line(self, path: str, cell: int | None, row: int) -> str | None:
        """The text of a row without its line end; None where it can't be had."""
        kept = self._lines.get((path, cell, row))
        if kept is not None:
            return kept
        if path not in self._loaded:
            self._loaded[path] = self._load(path)
        source = self._loaded[path]
        return None if source is None else _line(source, cell, row)


class Results(NamedTuple):
    """One run, as the output formats see it."""

    diagnostics: tuple[Diagnostic, ...]
    """By file, then by place."""
    files: int
    """How many files were looked at."""
    lines: QuotedLines
    explain: Callable[[str], str]
    """The explanation of a rule by its code, for formats that carry one."""
    root: str
    """The directory that relative paths count from, absolute."""
    fixed: int = 0
    """How many problems were repaired in the files."""
    unsafe_fixes: bool = False
    """Whether unsafe fixes were asked for, and so need no mention."""


def _locations(diagnostics: Iterable[Diagnostic]) -> Iterator[Location]:
    for diagnostic in diagnostics:
        yield diagnostic.location
        for related in diagnostic.related:
            yield related.location


def quoted_rows(span: Range) -> list[int]:
    """The rows of a range that a report shows."""
    first, last = span.start.row, span.end.row
    if last > first and span.end.column == 1:
        last -= 1
    return list(range(first, last + 1)) if last - first < _WHOLE else [first, last]


def place(location: Location) -> str:
    """Where a location starts: `train.py:16:17`, `run.ipynb:cell 3:2:5`."""
    start = location.range.start
    cell = f":cell {location.cell}" if location.cell is not None else ""
    return f"{location.path}{cell}:{start.row}:{start.column}"


def _line(source: Source, cell: int | None, row: int) -> str | None:
    first, last = 1, len(source.lines)
    if cell is not None:
        spans = [(each.first_row, each.last_row) for each in source.cells if each.number == cell]
        if not spans:
            return None
        first, last = spans[0]
    module_row = first + row - 1
    return source.lines[module_row - 1] if first <= module_row <= last else None
