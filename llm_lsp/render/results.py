"""What a report is made from: the diagnostics and the lines that they quote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from llm_lsp.diagnostic import Diagnostic, Location, Range
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
        lines: list[str] | None = None
        for location in _locations(diagnostics):
            if location.path != source.path:
                continue
            if lines is None:
                lines = source.text.split("\n")
            for row in quoted_rows(location.range):
                module_row = _module_row(source, location.cell, row)
                if module_row is not None and 1 <= module_row <= len(lines):
                    self._lines[location.path, location.cell, row] = lines[module_row - 1]

    def line(self, path: str, cell: int | None, row: int) -> str | None:
        """The text of a row without its line end; None where it can't be had."""
        kept = self._lines.get((path, cell, row))
        if kept is not None:
            return kept
        if path not in self._loaded:
            self._loaded[path] = self._load(path)
        source = self._loaded[path]
        if source is None:
            return None
        module_row = _module_row(source, cell, row)
        lines = source.text.split("\n")
        if module_row is None or not 1 <= module_row <= len(lines):
            return None
        return lines[module_row - 1]


@dataclass(frozen=True, slots=True)
class Results:
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


def _module_row(source: Source, cell: int | None, row: int) -> int | None:
    if cell is None:
        return row
    for candidate in source.cells:
        if candidate.number == cell:
            module_row = candidate.first_row + row - 1
            return module_row if module_row <= candidate.last_row else None
    return None
