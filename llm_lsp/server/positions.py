"""Rows and columns of ours (from 1, in code points) and lines and characters of the protocol (from 0, in code units).

Nowhere else in llm-lint is anything counted in the client's units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from lsprotocol import types

from llm_lsp.diagnostic import Position, Range

__all__ = ["Encoding", "Lines"]

Encoding = types.PositionEncodingKind

_LINE_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """A text in lines as the protocol counts them: only CR, LF and CRLF end one, unlike in `str.splitlines`."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line; a text that ends with a line end has an empty last line."""
        if "\r" in self.text:
            return [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        starts = [0]
        find, at = self.text.find, 0
        while (at := find("\n", at) + 1) > 0:
            starts.append(at)
        return starts

    def line(self, number: int) -> str:
        """A line by its number from 0, without its end; empty where there is none."""
        starts = self.starts
        if not 0 <= number < len(starts):
            return ""
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    def offset(self, position: types.Position, encoding: Encoding | str) -> int:
        """The offset of a client's position, moved into the text where it lies outside."""
        if position.line >= len(self.starts):
            return len(self.text)
        line = self.line(max(0, position.line))
        return self.starts[max(0, position.line)] + _code_points(line, position.character, encoding)

    def spliced(self, change: types.Range, text: str, encoding: Encoding | str) -> str:
        """The text after one change of the client."""
        start, end = self.offset(change.start, encoding), self.offset(change.end, encoding)
        return self.text[: min(start, end)] + text + self.text[max(start, end) :]

    def from_client(self, position: types.Position, encoding: Encoding | str) -> Position:
        """A client's position as ours."""
        line = self.line(position.line)
        return Position(position.line + 1, _code_points(line, position.character, encoding) + 1)

    def to_client(self, position: Position, encoding: Encoding | str) -> types.Position:
        """Our position as the client's."""
        before = self.line(position.row - 1)[: position.column - 1]
        return types.Position(position.row - 1, _units(before, encoding))

    def range_to_client(self, range_: Range, encoding: Encoding | str) -> types.Range:
        """Our range as the client's."""
        return types.Range(self.to_client(range_.start, encoding), self.to_client(range_.end, encoding))

    def end(self, encoding: Encoding | str) -> types.Position:
        """The position after the last character."""
        last = len(self.starts) - 1
        return types.Position(last, _units(self.line(last), encoding))

    @property
    def line_end(self) -> str:
        """The line end that the text uses most."""
        if "\r" not in self.text:
            return "\n"
        ends: Sequence[str] = _LINE_END.findall(self.text)
        return max(("\n", "\r\n", "\r"), key=ends.count)


def _units(text: str, encoding: Encoding | str) -> int:
    if text.isascii() or encoding == Encoding.Utf32:
        return len(text)
    if encoding == Encoding.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _code_points(line: str, units: int, encoding: Encoding | str) -> int:
    """How many characters of a line so many units are; one that the client cuts in two counts whole."""
    if line.isascii() or encoding == Encoding.Utf32:
        return min(max(units, 0), len(line))
    done = 0
    for count, character in enumerate(line):
        if done >= units:
            return count
        done += _units(character, encoding)
    return len(line)
