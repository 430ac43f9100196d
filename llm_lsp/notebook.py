"""A Jupyter notebook (nbformat 3 and 4): its code cells, and its bytes after edits in them.

The file is walked once, value by value: outputs are skipped, and where each cell's source lies is kept, so that an
edit rewrites that value and not one byte besides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import cast

from llm_lsp.decoding import Decoded, with_unix_newlines
from llm_lsp.diagnostic import Edit, Range
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.splicing import EditError, spliced

__all__ = ["CodeCell", "Notebook", "NotebookError", "read_notebook"]

_SPACE = re.compile(r"[ \t\n\r]*")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")


class NotebookError(Exception):
    """The bytes are no notebook; `row` and `column` (from 1) name the place in the file."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class CodeCell(NamedTuple):
    """A code cell as written."""

    number: int
    """From 1 through all cells, markdown too."""
    written: str
    tags: tuple[str, ...]
    execution_count: int | None
    span: tuple[int, int]
    """Where the source's JSON value lies in the file's text; empty where there is none."""

    @property
    def text(self) -> str:
        r"""The source with `\n` line ends and without halves of surrogate pairs, which no parser takes."""
        text = with_unix_newlines(self.written)
        return text if text.isascii() else text.encode("utf-8", "replace").decode()


class Notebook(NamedTuple):
    """A notebook's code cells, and its text to write it back."""

    decoded: Decoded
    cells: tuple[CodeCell, ...]
    is_python: bool
    """False where the notebook says that another language runs its cells."""

    def with_edits(self, edits: Sequence[Edit]) -> bytes:
        """The notebook's bytes after `edits`, which must not overlap; raises EditError."""
        by_cell: dict[int, list[tuple[Range, str]]] = {}
        for edit in edits:
            by_cell.setdefault(edit.location.cell or 0, []).append((edit.location.range, edit.content))
        cells = {cell.number: cell for cell in self.cells}
        text = self.decoded.text
        pieces: list[str] = []
        done = 0
        for number, changes in sorted(by_cell.items()):
            cell = cells.get(number)
            if cell is None or cell.span[0] == cell.span[1]:
                raise EditError(f"cell {number} has no source to edit")
            start, end = cell.span
            pieces += text[done:start], self._rewritten(text[start:end], spliced(cell.written, changes))
            done = end
        try:
            return self.decoded.encode("".join([*pieces, text[done:]]))
        except UnicodeEncodeError:
            raise EditError("the cell holds half of a surrogate pair, which can't be written") from None

    def _rewritten(self, value: str, source: str) -> str:
        """The JSON `value` of a cell's source in its own style, holding `source`."""
        is_ascii = self._is_ascii(value)
        if value.startswith('"'):
            old = json.loads(value)
            characters = _CHARACTER.findall(value[1:-1])
            if len(characters) != len(old):
                return json.dumps(source, ensure_ascii=is_ascii)
            start, end = _common(old, source)
            middle = json.dumps(source[start : len(source) - end], ensure_ascii=is_ascii)[1:-1]
            return '"' + "".join(characters[:start]) + middle + "".join(characters[len(old) - end :]) + '"'
        opening, between, closing, written = self._list_style(value)
        lines = re.findall(r"[^\n]*\n|[^\n]+", source)
        old_lines = json.loads(value)
        start, end = _common(old_lines, lines)
        middle_lines = [json.dumps(line, ensure_ascii=is_ascii) for line in lines[start : len(lines) - end]]
        items = [*written[:start], *middle_lines, *written[len(written) - end :]]
        return f"[{opening}{between.join(items)}{closing}]" if items else "[]"

    def _list_style(self, value: str) -> tuple[str, str, str, list[str]]:
        """What stands after `[`, between two items and before `]`, and the items as written."""
        items = _spans_of_items(value)
        written = [value[start:end] for start, end in items]
        if len(items) > 1:
            return value[1 : items[0][0]], value[items[0][1] : items[1][0]], value[items[-1][1] : -1], written
        for cell in self.cells:
            other = self.decoded.text[slice(*cell.span)]
            if other.startswith("[") and len(_spans_of_items(other)) > 1:
                return (*self._list_style(other)[:3], written)
        if items and (opening := value[1 : items[0][0]]):
            return opening, f",{opening}", value[items[0][1] : -1], written
        return "", ", ", "", written

    def _is_ascii(self, value: str) -> bool:
        """Whether the notebook's writer escapes what is not ASCII: shown by the value, else by the whole file."""
        for text in (value, self.decoded.text):
            if not text.isascii():
                return False
            if _ESCAPED.search(text):
                return True
        return False


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many items at the start and at the end, which don't overlap, are the same."""
    most = min(len(old), len(new))
    start = next((index for index in range(most) if old[index] != new[index]), most)
    most -= start
    end = next((index for index in range(most) if old[-1 - index] != new[-1 - index]), most)
    return start, end


def read_notebook(data: bytes) -> Notebook:
    """Raises NotebookError, and RecursionError where the JSON is nested too deeply."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = data[len(mark) :].decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start + len(mark)) + 1
        raise NotebookError(
            f"byte 0x{data[error.start + len(mark)]:02x} at offset {error.start + len(mark)} "
            "is not UTF-8, as a notebook must be",
            row,
        ) from None
    reader = _Reader(text)
    try:
        reader.read()
    except json.JSONDecodeError as error:
        raise NotebookError(f"not a notebook: {_clause(error.msg)}", error.lineno, error.colno) from None
    return Notebook(Decoded(text, "utf-8", mark), tuple(reader.cells), reader.is_python())


def _clause(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(":. ")


class _Reader:
    """Walks a notebook's JSON; raises JSONDecodeError with the place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.cells: list[CodeCell] = []
        self.count = 0
        self.has_cells = False
        self.metadata: object = None
        # Outputs may hold numbers of any length, of which `int` refuses the longest.
        self.decoder = json.JSONDecoder(parse_int=float)

    def value(self, start: int) -> tuple[object, int]:
        """The value at `start`, and the offset after it."""
        return self.decoder.raw_decode(self.text, start)

    def read(self) -> None:
        end = self._skip(self._object(self._skip(0), self._notebook_member))
        if end != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, end)
        if not self.has_cells:
            raise json.JSONDecodeError("there is no `cells`", self.text, 0)

    def is_python(self) -> bool:
        for table, key in (("language_info", "name"), ("kernelspec", "language")):
            language = _get(_get(self.metadata, table), key)
            if isinstance(language, str) and language:
                return language.lower() in {"python", "python3", "ipython", "ipython3", "xpython"}
        return True

    def _notebook_member(self, key: str, start: int) -> int:
        if key == "cells":
            self.has_cells = True
            return self.array(start, self._cell)
        if key == "worksheets":
            self.has_cells = True
            return self.array(start, lambda item: self._object(item, self._worksheet_member))
        value, end = self.value(start)
        if key == "metadata":
            self.metadata = value
        return end

    def _worksheet_member(self, key: str, start: int) -> int:
        return self.array(start, self._cell) if key == "cells" else self.value(start)[1]

    def _cell(self, start: int) -> int:
        members: dict[str, object] = {}
        spans: dict[str, tuple[int, int]] = {}

        def member(key: str, at: int) -> int:
            value, end = self.value(at)
            if key != "outputs":
                members[key], spans[key] = value, (at, end)
            return end

        end = self._object(start, member)
        self.count += 1
        language = members.get("language")
        if members.get("cell_type") == "code" and (not isinstance(language, str) or language.lower() == "python"):
            key = "source" if "source" in members else "input"
            written = _joined(members.get(key))
            tags = _strings(_get(members.get("metadata"), "tags"))
            count = members.get("execution_count", members.get("prompt_number"))
            self.cells.append(
                CodeCell(
                    self.count,
                    written or "",
                    tuple(tags or ()),
                    int(count) if isinstance(count, float) and count.is_integer() else None,
                    (0, 0) if written is None else spans[key],
                )
            )
        return end

    def _object(self, start: int, member: Callable[[str, int], int]) -> int:
        """Calls `member(key, offset of its value)`, which returns the offset after the value."""
        position = self._skip(self._expect("{", start))
        if self.text.startswith("}", position):
            return position + 1
        while True:
            if not self.text.startswith('"', position):
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.text, position)
            key, position = self.value(position)
            position = member(str(key), self._skip(self._expect(":", self._skip(position))))
            position = self._skip(position)
            if self.text.startswith("}", position):
                return position + 1
            position = self._skip(self._expect(",", position))

    def array(self, start: int, item: Callable[[int], int]) -> int:
        position = self._skip(self._expect("[", start))
        if self.text.startswith("]", position):
            return position + 1
        while True:
            position = self._skip(item(position))
            if self.text.startswith("]", position):
                return position + 1
            position = self._skip(self._expect(",", position))

    def _expect(self, mark: str, position: int) -> int:
        if not self.text.startswith(mark, position):
            raise json.JSONDecodeError(f"Expecting `{mark}`", self.text, position)
        return position + 1

    def _skip(self, position: int) -> int:
        found = _SPACE.match(self.text, position)
        return found.end() if found else position


def _spans_of_items(value: str) -> list[tuple[int, int]]:
    """Where the items of a JSON list lie in its text."""
    spans: list[tuple[int, int]] = []
    reader = _Reader(value)

    def item(start: int) -> int:
        end = reader.value(start)[1]
        spans.append((start, end))
        return end

    reader.array(0, item)
    return spans


def _get(table: object, key: str) -> object:
    return cast("dict[str, object]", table).get(key) if isinstance(table, dict) else None


def _strings(value: object) -> list[str] | None:
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    strings = [item for item in items if isinstance(item, str)]
    return strings if len(strings) == len(items) else None


def _joined(source: object) -> str | None:
    """A cell's source as one text; None where it is neither a string nor a list of strings."""
    if isinstance(source, str):
        return source
    lines = _strings(source)
    return None if lines is None else "".join(lines)
