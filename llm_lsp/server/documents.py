"""The documents that the client has open, as it sees them now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from lsprotocol import types

from llm_lsp.outlines import Outline, imported_words
from llm_lsp.server.positions import Encoding, Lines
from llm_lsp.server.recording import digest
from llm_lsp.server.uris import key_of, path_of
from llm_lsp.source import Source

__all__ = ["Cell", "Document", "Documents", "Notebook", "TextDocument"]

_PYTHON = "python"


@dataclass(frozen=True, eq=False)
class TextDocument:
    """One version of a text; a change makes another object, so that whoever works on this one is not disturbed."""

    uri: str
    """As the client writes it."""
    version: int
    language: str
    text: str

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    @cached_property
    def path(self) -> Path | None:
        """The file, which may not exist yet; None for a document that is in no file."""
        return path_of(self.uri)

    @cached_property
    def imported_words(self) -> frozenset[str]:
        """The words of its import statements."""
        return imported_words(self.text)

    @cached_property
    def outline(self) -> Outline:
        """What other files can see of it without parsing."""
        return Outline(self.text)

    @cached_property
    def digest(self) -> str:
        """Another one for another text."""
        return digest(self.text)

    @property
    def is_python(self) -> bool:
        """Whether this is a program to lint."""
        return self.language == _PYTHON or (not self.language and self.uri.endswith(".py"))

    @property
    def texts(self) -> tuple[TextDocument, ...]:
        """The texts that diagnostics are shown in, one for each cell number."""
        return (self,)

    def text_at(self, cell: int | None) -> TextDocument | None:
        """The text that a location of ours speaks of."""
        del cell
        return self

    def source(self, shown_path: str, max_size: int, before: Source | None = None) -> Source:
        """The text as the linter takes it; `before` is another state of it."""
        return Source.from_text(shown_path, self.text, max_size=max_size, kind="python", before=before)


class Cell(NamedTuple):
    """A cell of a notebook; the text of a markdown cell is not sent."""

    uri: str
    kind: types.NotebookCellKind
    tags: tuple[str, ...]
    execution_count: int | None


@dataclass(frozen=True, eq=False)
class Notebook:
    """One state of a notebook: its cells in order, with their texts."""

    uri: str
    version: int
    cells: tuple[Cell, ...]
    cell_texts: tuple[TextDocument | None, ...]
    """For each cell its text, where it is a Python one."""

    @cached_property
    def path(self) -> Path | None:
        """The file; None for a notebook that is in no file."""
        return path_of(self.uri)

    @cached_property
    def digest(self) -> str:
        """Another one for other cells."""
        return digest(repr(self.cells), *(text.text if text is not None else "" for text in self.cell_texts))

    @cached_property
    def imported_words(self) -> frozenset[str]:
        """The words of its import statements."""
        return frozenset(word for text in self.texts for word in text.imported_words)

    @cached_property
    def outline(self) -> tuple[Outline, ...]:
        """What other files can see of its cells without parsing."""
        return tuple(text.outline for text in self.texts)

    @property
    def is_python(self) -> bool:
        """Whether there is anything to lint."""
        return any(text is not None for text in self.cell_texts)

    @property
    def texts(self) -> tuple[TextDocument, ...]:
        """The texts that diagnostics are shown in."""
        return tuple(text for text in self.cell_texts if text is not None)

    def text_at(self, cell: int | None) -> TextDocument | None:
        """The text of a cell by its number from 1."""
        return self.cell_texts[cell - 1] if cell is not None and 0 < cell <= len(self.cell_texts) else None

    def source(self, shown_path: str, max_size: int, before: Source | None = None) -> Source:
        """The cells as the linter takes them: as the notebook's file, so that nothing is read in another way."""
        import json

        cells = [
            {
                "cell_type": "code" if text is not None else "markdown",
                "source": text.text if text is not None else "",
                "metadata": {"tags": list(cell.tags)},
                "execution_count": cell.execution_count,
            }
            for cell, text in zip(self.cells, self.cell_texts, strict=True)
        ]
        data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
        return Source.from_bytes(shown_path, data, max_size=max_size, kind="notebook", before=before)


Document = TextDocument | Notebook


class Documents:
    """What is open, by URI and by path. Methods that change it run in the event loop; any thread may read."""

    def __init__(self, encoding: Encoding | str = Encoding.Utf16) -> None:
        self.encoding = encoding
        self._texts: dict[str, TextDocument] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._notebook_of: dict[str, str] = {}
        """The notebook's key by the cell's."""
        self._by_path: dict[Path, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        """The texts that are no cells, and the notebooks."""
        yield from [text for key, text in self._texts.items() if key not in self._notebook_of]
        yield from list(self._notebooks.values())

    def text(self, uri: str) -> TextDocument | None:
        """An open text or cell."""
        return self._texts.get(key_of(uri))

    def document(self, uri: str) -> Document | None:
        """What is linted as one: the text, the notebook, or the notebook that a cell is in."""
        key = key_of(uri)
        return self._notebooks.get(self._notebook_of.get(key, key)) or self._texts.get(key)

    def at(self, path: Path) -> Document | None:
        """What is open of a file."""
        return self._by_path.get(path)

    # ------------------------------------------------------------ texts

    def open(self, item: types.TextDocumentItem) -> TextDocument:
        """A text that the client owns from now on."""
        document = TextDocument(item.uri, item.version, _language(item), item.text)
        self._texts[key_of(item.uri)] = document
        if document.path is not None:
            self._by_path[document.path] = document
        return document

    def change(
        self, identifier: types.VersionedTextDocumentIdentifier, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> TextDocument | None:
        """The text after changes, each of which speaks of the text after the one before; None if it is not open."""
        key = key_of(identifier.uri)
        before = self._texts.get(key)
        if before is None:
            return None
        lines = before.lines
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                lines = Lines(lines.spliced(change.range, change.text, self.encoding))
            else:
                lines = Lines(change.text)
        document = replace(before, version=identifier.version, text=lines.text)
        # What was counted for one change serves the next one.
        document.__dict__["lines"] = lines
        self._texts[key] = document
        if document.path is not None and key not in self._notebook_of:
            self._by_path[document.path] = document
        return document

    def close(self, uri: str) -> None:
        """The file on the disk counts again."""
        closed = self._texts.pop(key_of(uri), None)
        if closed is not None and closed.path is not None and self._by_path.get(closed.path) is closed:
            del self._by_path[closed.path]

    # ------------------------------------------------------------ notebooks

    def open_notebook(self, item: types.NotebookDocument, texts: Sequence[types.TextDocumentItem]) -> Notebook:
        """A notebook with the texts of its cells."""
        for text in texts:
            self._open_cell(item.uri, text)
        return self._put(item.uri, item.version, tuple(_cell(cell) for cell in item.cells))

    def change_notebook(
        self, identifier: types.VersionedNotebookDocumentIdentifier, change: types.NotebookDocumentChangeEvent
    ) -> tuple[Notebook, list[str]] | None:
        """The notebook after a change, with the URIs of the cells that are gone; None if it is not open."""
        before = self._notebooks.get(key_of(identifier.uri))
        if before is None:
            return None
        cells = list(before.cells)
        gone: list[str] = []
        changes = change.cells
        if changes is not None and changes.structure is not None:
            array = changes.structure.array
            cells[array.start : array.start + array.delete_count] = [_cell(cell) for cell in array.cells or ()]
            for item in changes.structure.did_open or ():
                self._open_cell(identifier.uri, item)
            for closed in changes.structure.did_close or ():
                gone.append(closed.uri)
                self._close_cell(closed.uri)
        for data in (changes.data if changes is not None else None) or ():
            cells = [_cell(data) if key_of(cell.uri) == key_of(data.document) else cell for cell in cells]
        for content in (changes.text_content if changes is not None else None) or ():
            self.change(content.document, content.changes)
        return self._put(before.uri, identifier.version, tuple(cells)), gone

    def close_notebook(self, uri: str) -> list[str]:
        """Forget a notebook; the URIs of its cells."""
        key = key_of(uri)
        notebook = self._notebooks.pop(key, None)
        if notebook is None:
            return []
        if notebook.path is not None and self._by_path.get(notebook.path) is notebook:
            del self._by_path[notebook.path]
        closed = [cell.uri for cell in notebook.cells]
        for cell in closed:
            self._close_cell(cell)
        return closed

    def _open_cell(self, notebook_uri: str, item: types.TextDocumentItem) -> None:
        key = key_of(item.uri)
        self._texts[key] = TextDocument(item.uri, item.version, _language(item), item.text)
        self._notebook_of[key] = key_of(notebook_uri)

    def _close_cell(self, uri: str) -> None:
        self._texts.pop(key_of(uri), None)
        self._notebook_of.pop(key_of(uri), None)

    def _put(self, uri: str, version: int, cells: tuple[Cell, ...]) -> Notebook:
        notebook = Notebook(uri, version, cells, tuple(self._python_text(cell) for cell in cells))
        self._notebooks[key_of(uri)] = notebook
        if notebook.path is not None:
            self._by_path[notebook.path] = notebook
        return notebook

    def _python_text(self, cell: Cell) -> TextDocument | None:
        text = self._texts.get(key_of(cell.uri))
        is_code = cell.kind is types.NotebookCellKind.Code
        return text if is_code and text is not None and text.language == _PYTHON else None


def _language(item: types.TextDocumentItem) -> str:
    """The language's name; those of the protocol's own list may come as members of an enumeration."""
    return item.language_id.value if isinstance(item.language_id, types.LanguageKind) else item.language_id


def _cell(cell: types.NotebookCell) -> Cell:
    """A cell as the client describes it.

    VS Code puts the file's metadata of a cell into a `metadata` of its own; others send it as it is.
    """
    metadata = cast("dict[str, Any]", cell.metadata or {})
    inner = metadata.get("metadata")
    tags: object = (cast("dict[str, Any]", inner) if isinstance(inner, dict) else metadata).get("tags")
    written = tuple(str(tag) for tag in cast("list[object]", tags)) if isinstance(tags, list) else ()
    summary = cell.execution_summary
    return Cell(cell.document, cell.kind, written, summary.execution_order if summary is not None else None)
