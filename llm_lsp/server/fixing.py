"""All safe fixes of a document at once: what `llm-lint check --fix` does, as edits of the client's texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lsprotocol import types

from llm_lsp.linter import Crash
from llm_lsp.server.checking import linted
from llm_lsp.server.documents import Document, TextDocument
from llm_lsp.server.projects import Unit
from llm_lsp.source import Source

__all__ = ["changed_texts", "has_safe_fix"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def changed_texts(
    document: Document, unit: Unit, encoding: str, on_crash: Callable[[Crash], None]
) -> list[tuple[TextDocument, types.TextEdit]]:
    """One edit for each text that the safe fixes change.

    Raises:
        FixesDoNotSettle: two rules undo each other.
    """
    from llm_lsp.fixes import fix

    source = document.source(unit.file.shown_path, unit.file.settings.max_source_size)
    world = unit.project.world_for(unit.file, source.installs)
    done = fix(source, lambda current: linted(current, unit, world, lambda: False, on_crash), unsafe=False)
    return [
        (text, _edit(text, after, encoding))
        for text, after in _texts_after(document, done.source)
        if after != text.text
    ]


def _texts_after(document: Document, source: Source) -> Iterator[tuple[TextDocument, str]]:
    if source.notebook is not None:
        for cell in source.notebook.cells:
            text = document.text_at(cell.number)
            if text is not None:
                yield text, cell.written
    elif isinstance(document, TextDocument) and source.decoded is not None:
        yield document, source.decoded.text


def _edit(text: TextDocument, after: str, encoding: str) -> types.TextEdit:
    """The whole lines that differ, so that cursors and marks elsewhere stay."""
    old, new = _LINE.findall(text.text), _LINE.findall(after)
    most = min(len(old), len(new))
    start = next((index for index in range(most) if old[index] != new[index]), most)
    end = next((index for index in range(most - start) if old[-1 - index] != new[-1 - index]), most - start)
    lines = text.lines
    last = types.Position(len(old) - end, 0) if end and len(old) - end < len(lines.starts) else lines.end(encoding)
    return types.TextEdit(types.Range(types.Position(start, 0), last), "".join(new[start : len(new) - end]))


def has_safe_fix(reports: Mapping[str, Iterable[types.Diagnostic]]) -> bool:
    """Whether any of the diagnostics has a fix that needs no reading."""
    data: list[Any] = [diagnostic.data for shown in reports.values() for diagnostic in shown]
    return any(each["fix"]["safe"] for each in data if "fix" in each)
