"""TOML documents, and where their keys are written.

The parser is imported when there is a document to parse: most folders that a hook runs in have none of ours.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["InvalidTomlError", "KeyPath", "key_rows", "parse"]

KeyPath = tuple["str | int", ...]
"""Keys from the top of the document; an array's items by their index from 0."""


class InvalidTomlError(ValueError):
    """The text is not TOML; `row` is where, from 1, as far as the parser says."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def parse(text: str) -> dict[str, Any]:
    """The document's values.

    Raises:
        InvalidTomlError: the text is not TOML, or nested too deeply to be parsed.
    """
    # By name, since a type checker that runs on one Python finds only one of the two.
    from importlib import import_module

    loads: Callable[[str], dict[str, Any]] = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads
    try:
        return loads(text)
    except ValueError as error:
        # Python 3.14 has the row as an attribute; before that it is only in the message.
        message, _, place = str(error).partition(" (at ")
        digits = place.removeprefix("line ").partition(",")[0]
        row = int(digits) if digits.isdecimal() else text.rstrip().count("\n") + 1
        raise InvalidTomlError(row, message) from error
    except RecursionError as error:
        raise InvalidTomlError(1, "nested too deeply") from error


def key_rows(text: str) -> dict[KeyPath, int]:
    """The row, from 1, of each key, table header and array item; where a table is opened twice, the first row.

    `tomllib` gives values without places, and a wrong setting must be reported at its line. The scan keeps no values
    and trusts the text to be valid, as `parse` has accepted it before.
    """
    scanner = _Scanner(text)
    # What was found until then still serves: the caller falls back to the nearest outer key.
    with suppress(_LostError, RecursionError):
        scanner.read_document()
    return scanner.rows


class _LostError(Exception):
    """The text is not what a valid document would have here."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.rows: dict[KeyPath, int] = {}
        self.last_table: dict[KeyPath, int] = {}
        self.line_starts = [0, *(index + 1 for index, char in enumerate(self.text) if char == "\n")]

    def read_document(self) -> None:
        table: KeyPath = ()
        while self.skip_blank():
            if self.text.startswith("[[", self.at):
                table = self.read_header(2)
            elif self.text[self.at] == "[":
                table = self.read_header(1)
            else:
                self.read_pair(table)

    def read_header(self, brackets: int) -> KeyPath:
        start = self.at
        self.at += brackets
        keys = self.read_dotted_key()
        self.at += brackets
        path: KeyPath = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            self.rows.setdefault(path, self.row_at(start))
            if position == len(keys) - 1 and brackets == 2:
                self.last_table[path] = self.last_table.get(path, -1) + 1
            if path in self.last_table:
                path = (*path, self.last_table[path])
                self.rows.setdefault(path, self.row_at(start))
        return path

    def read_pair(self, table: KeyPath) -> None:
        start = self.at
        path = table
        for key in self.read_dotted_key():
            path = (*path, key)
            self.rows.setdefault(path, self.row_at(start))
        if not self.text.startswith("=", self.at):
            raise _LostError
        self.at += 1
        self.skip_spaces()
        self.read_value(path)

    def read_dotted_key(self) -> list[str]:
        """Leaves the scanner behind the key and the spaces that follow it."""
        keys: list[str] = []
        while True:
            self.skip_spaces()
            keys.append(self.read_simple_key())
            self.skip_spaces()
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def read_simple_key(self) -> str:
        start = self.at
        if self.text[start : start + 1] in ('"', "'"):
            self.skip_string()
            return _unquoted(self.text[start : self.at])
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in "-_"):
            self.at += 1
        if self.at == start:
            raise _LostError
        return self.text[start : self.at]

    def read_value(self, path: KeyPath) -> None:
        opening = self.text[self.at : self.at + 1]
        if opening in ('"', "'"):
            self.skip_string()
        elif opening == "[":
            self.read_array(path)
        elif opening == "{":
            self.read_inline_table(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def read_array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.skip_blank() and self.text[self.at] != "]":
            if self.text[self.at] == ",":
                self.at += 1
                index += 1
                continue
            item = (*path, index)
            self.rows.setdefault(item, self.row_at(self.at))
            self.read_value(item)
        self.at += 1

    def read_inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.skip_blank() and self.text[self.at] != "}":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self.read_pair(path)
        self.at += 1

    def skip_string(self) -> None:
        quote = self.text[self.at]
        closing = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(closing)
        while self.at < len(self.text):
            if quote == '"' and self.text[self.at] == "\\":
                self.at += 2
            elif self.text.startswith(closing, self.at):
                self.at += len(closing)
                # A multi-line string may end in one or two quotes of its own: `"""a""""`.
                while len(closing) == 3 and self.text.startswith(quote, self.at):
                    self.at += 1
                return
            else:
                self.at += 1
        raise _LostError

    def skip_spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def skip_blank(self) -> bool:
        """Skip spaces, line ends and comments; False at the end of the text."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\n":
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def row_at(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)


def _unquoted(written: str) -> str:
    if written.startswith("'") or "\\" not in written:
        return written[1:-1]
    return str(parse(f"key = {written}")["key"])
