"""From the bytes of a source file to its text and back, by Python's own rules (PEP 263)."""

from __future__ import annotations

import codecs
import re

from llm_lsp.named_tuples import NamedTuple

__all__ = ["Decoded", "UndecodableError", "decode", "with_unix_newlines"]

_CODING = rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
_BLANK = rb"[ \t\f]*(?:#.*)?\Z"
_ASCII = b"#\\x41 +AGE- z-a"
"""Bytes that an encoding in which Python's own syntax can be written must not change."""
_FOREIGN_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class UndecodableError(Exception):
    """The bytes are no text; `row` and `column` (from 1) name the place, the message also the way out."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class Decoded(NamedTuple):
    """A file's text as written, with its own line ends and without the byte-order mark."""

    text: str
    encoding: str
    mark: bytes

    def encode(self, text: str) -> bytes:
        """`text` in this file's encoding; raises UnicodeError where that can't hold it."""
        return self.mark + text.encode(self.encoding)


def decode(data: bytes) -> Decoded:
    """Raises UndecodableError."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    for foreign, name in _FOREIGN_MARKS:
        if data.startswith(foreign):
            raise UndecodableError(f"the file is encoded in {name}, which Python does not read; save it as UTF-8")
    body = data[len(mark) :]
    declared, row = _declared(body)
    encoding = declared or "utf-8"
    if mark and declared and not re.fullmatch(r"utf[-_]?8(?:[-_].*)?", declared, re.IGNORECASE):
        raise UndecodableError(
            f"the file starts with a UTF-8 byte-order mark, but its coding line says `{declared}`", row
        )
    try:
        if _ASCII.decode(encoding) == _ASCII.decode("ascii"):
            return Decoded(body.decode(encoding), encoding, mark)
        problem = _unknown_encoding(encoding, row)
    except UnicodeDecodeError as error:
        problem = _undecodable(body, error, len(mark), declared)
    except UnicodeError:
        problem = UndecodableError(f"the bytes are not `{encoding}`, which the coding line names", row)
    except LookupError:
        problem = _unknown_encoding(encoding, row)
    raise problem


def _unknown_encoding(encoding: str, row: int) -> UndecodableError:
    return UndecodableError(
        f"the coding line names `{encoding}`, which no source file can be read with; save it as UTF-8", row
    )


def _declared(body: bytes) -> tuple[str | None, int]:
    """The encoding that one of the first two lines names, and the row of that line."""
    if b"coding" not in body[:2000]:
        return None, 1
    for row, line in enumerate(re.split(rb"\r\n|\r|\n", body[:2000], maxsplit=2)[:2], 1):
        if found := re.match(_CODING, line):
            return found.group(1).decode("ascii", "replace"), row
        if not re.match(_BLANK, line):
            break
    return None, 1


def _undecodable(body: bytes, error: UnicodeDecodeError, skipped: int, declared: str | None) -> UndecodableError:
    before = with_unix_newlines(body[: error.start].decode(error.encoding, "replace"))
    row = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    place = f"byte 0x{body[error.start]:02x} at offset {error.start + skipped}"
    if declared:
        return UndecodableError(f"{place} is not `{declared}`, which the coding line names", row, column)
    way_out = "save the file as UTF-8 or name its encoding in the first line, as `# coding: latin-1`"
    return UndecodableError(f"{place} is not UTF-8; {way_out}", row, column)


def with_unix_newlines(text: str) -> str:
    r"""`text` with `\n` for every line end that Python knows."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
