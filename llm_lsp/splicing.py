"""Edits applied to a text as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llm_lsp.decoding import with_unix_newlines
from llm_lsp.diagnostic import Position, Range

__all__ = ["EditError", "spliced"]

_NEWLINE = r"\r\n|\r|\n"


class EditError(ValueError):
    """An edit that this file can't take; the message says why."""


def spliced(written: str, edits: Iterable[tuple[Range, str]]) -> str:
    """`written`, whatever its line ends, after edits that must not overlap; raises EditError.

    Inserted text gets the line end that `written` uses most, and what is inserted at one place keeps the order of
    `edits`. The row after the last one is the end of the text: what is inserted there becomes a line of its own and
    leaves the text with or without a final line end, as it was.
    """
    starts = [0, *(end.end() for end in re.finditer(_NEWLINE, written))]
    pieces: list[str] = []
    done = 0
    for range_, content in sorted(edits, key=lambda edit: edit[0]):
        start, end = _offset(written, starts, range_.start), _offset(written, starts, range_.end)
        if start < done or end < start:
            raise EditError(f"edits overlap at row {range_.start.row}, column {range_.start.column}")
        is_new_row = content and range_.start.row > len(starts)
        inserted = "\n" + content.removesuffix("\n") if is_new_row else content
        pieces += written[done:start], _with_newlines_of(written, inserted)
        done = end
    return "".join([*pieces, written[done:]])


def _offset(written: str, starts: list[int], place: Position) -> int:
    if place.row == len(starts) + 1 and place.column == 1:
        return len(written)
    if not 1 <= place.row <= len(starts):
        raise EditError(f"there is no row {place.row}")
    end = starts[place.row] if place.row < len(starts) else len(written)
    width = len(written[starts[place.row - 1] : end].rstrip("\r\n"))
    if not 1 <= place.column <= width + 1:
        raise EditError(f"row {place.row} has no column {place.column}")
    return starts[place.row - 1] + place.column - 1


def _with_newlines_of(written: str, text: str) -> str:
    text = with_unix_newlines(text)
    if "\r" not in written:
        return text
    ends = re.findall(_NEWLINE, written)
    return text.replace("\n", max(("\n", "\r\n", "\r"), key=ends.count))
