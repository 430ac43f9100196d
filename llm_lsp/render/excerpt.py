"""Source lines with the places on them underlined, as a terminal shows them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from llm_lsp.diagnostic import Range
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import quoted_rows

__all__ = ["Mark", "excerpt", "gutter"]

_LIMIT = 120
"""Longer lines are cut around the marked range; in columns of the terminal."""
_LEAD = 24
"""How much of a cut line is shown before the marked range."""
_TAB = 4
# Overrides of the writing direction: shown as they are, they would move text away from its underline.
_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


class Mark(NamedTuple):
    """A range to underline with `sign`, and what to write behind the underline."""

    range: Range
    sign: str
    style: str
    label: str = ""


class _Span(NamedTuple):
    """The part of a mark that lies on one row, in code points from 0."""

    mark: Mark
    start: int
    end: int
    label: str


def excerpt(lines: dict[int, str], marks: Sequence[Mark], width: int, paint: Paint) -> Iterator[str]:
    """The rows that the marks quote, each followed by its underlines; `lines` has their texts by row number."""
    quoted = [quoted_rows(mark.range) for mark in marks]
    # The last rows of ranges that are quoted in part.
    after_gap = {rows[-1] for rows in quoted if rows[-1] - rows[0] >= len(rows)}
    last: int | None = None
    for row in sorted({row for rows in quoted for row in rows} & lines.keys()):
        if row in after_gap and last is not None and row > last + 1:
            yield paint("gutter", f"{'...':>{width}}")
        text = lines[row]
        spans = [_span(mark, row, text) for mark, rows in zip(marks, quoted, strict=True) if row in rows]
        yield from _row(row, text, spans, width, paint)
        last = row


def gutter(width: int, paint: Paint) -> str:
    return paint("gutter", f"{'':{width}} |")


def _row(row: int, text: str, spans: list[_Span], width: int, paint: Paint) -> Iterator[str]:
    cells = _cells(text)
    # Before each code point, the column of the terminal.
    columns = [0, *accumulate(columns for _, columns in cells)]
    shown: tuple[int, int] | None = None
    for span in spans:
        window = _window(columns, span)
        if window != shown:
            shown = window
            yield paint("gutter", f"{row:>{width}} |") + _after_gutter(_clip(cells, window))
        first, last = window
        lead = 3 if first else 0
        start = lead + columns[max(span.start, first)] - columns[first]
        length = max(1, columns[min(span.end, last)] - columns[min(max(span.start, first), last)])
        label = f" {span.label}" if span.label else ""
        yield gutter(width, paint) + " " * (start + 1) + paint(span.mark.style, span.mark.sign * length + label)


def _after_gutter(text: str) -> str:
    return f" {text}" if text else ""


def _span(mark: Mark, row: int, text: str) -> _Span:
    rows = quoted_rows(mark.range)
    start = mark.range.start.column - 1 if row == mark.range.start.row else len(text) - len(text.lstrip())
    end = mark.range.end.column - 1 if row == mark.range.end.row else len(text.rstrip())
    start = min(start, len(text))
    return _Span(mark, start, max(start, min(end, len(text))), mark.label if row == rows[-1] else "")


def _window(columns: list[int], span: _Span) -> tuple[int, int]:
    """The code points to show of a line: all, or as many as fit around the span."""
    count = len(columns) - 1
    if columns[-1] <= _LIMIT:
        return 0, count
    if columns[span.end] <= _LIMIT:
        return 0, bisect_right(columns, _LIMIT) - 1
    first = max(0, bisect_right(columns, columns[span.start] - _LEAD) - 1) if columns[span.start] > _LEAD else 0
    return first, max(first, bisect_right(columns, columns[first] + _LIMIT) - 1)


def _clip(cells: list[tuple[str, int]], window: tuple[int, int]) -> str:
    first, last = window
    text = "".join(shown for shown, _ in cells[first:last])
    return f"{'...' if first else ''}{text}{'...' if last < len(cells) else ''}".rstrip()


def _cells(text: str) -> list[tuple[str, int]]:
    """For each code point, what is shown for it and how many columns of the terminal that takes."""
    if text.isascii() and text.isprintable():
        return [(character, 1) for character in text]
    cells: list[tuple[str, int]] = []
    column = 0
    for character in text:
        if character == "\t":
            width = _TAB - column % _TAB
            cells.append((" " * width, width))
        else:
            cells.append(_cell(character))
        column += cells[-1][1]
    return cells


def _cell(character: str) -> tuple[str, int]:
    columns = _columns(character)
    return ("?", 1) if columns is None else (character, columns)


def _columns(character: str) -> int | None:
    """How many columns a character takes; None where it must not be printed."""
    if character.isascii():
        return 1 if character.isprintable() else None
    # 2 ms that no program in plain ASCII pays.
    import unicodedata

    category = unicodedata.category(character)
    if category in {"Cc", "Cs", "Zl", "Zp"} or character in _BIDIRECTIONAL:
        return None
    if category in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
