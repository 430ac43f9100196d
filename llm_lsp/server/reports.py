"""Diagnostics as the protocol has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

from llm_lsp import rule_page
from llm_lsp.builtin_codes import BUILTIN_CODES, UNUSED_SUPPRESSION
from llm_lsp.diagnostic import Applicability, Diagnostic, Edit, Location, Range, Severity
from llm_lsp.files import absolute
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.documents import Document, Documents, TextDocument
from llm_lsp.server.positions import Lines
from llm_lsp.server.uris import uri_of
from llm_lsp.settings import SettingsError
from llm_lsp.source import Source
from llm_lsp.suppression import ignore_file_edit, noqa_edits

__all__ = ["SOURCE", "Reporter", "settings_diagnostic", "text_edit"]

SOURCE = "llm-lint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
}
_OWN_CODES = frozenset(code.code for code in BUILTIN_CODES)
"""Nobody suppresses that a file can't be read, and a suppression without use is taken away instead."""


class _Target(NamedTuple):
    """What edits of a diagnostic apply to."""

    uri: str
    version: int | None
    lines: Lines


class Reporter:
    """Turns the diagnostics of one document into those that a client shows, each with what its code actions need.

    Args:
        document: what was linted.
        source: the same as the linter took it.
        documents: what else is open, for places in other files.
        client: what the client can do.
    """

    def __init__(self, document: Document, source: Source, documents: Documents, client: ClientCapabilities) -> None:
        self._document = document
        self._source = source
        self._documents = documents
        self._client = client
        self._lines_on_disk: dict[Path, Lines] = {}

    def reported(self, diagnostics: Iterable[Diagnostic]) -> dict[str, tuple[types.Diagnostic, ...]]:
        """The diagnostics by the URI of their text; every text of the document is there, the clean ones too."""
        found: dict[str, list[types.Diagnostic]] = {text.uri: [] for text in self._document.texts}
        for diagnostic in diagnostics:
            text = self._text_of(diagnostic.location)
            if text is not None:
                found[text.uri].append(self._converted(diagnostic, text))
        return {uri: tuple(each) for uri, each in found.items()}

    def _text_of(self, location: Location) -> TextDocument | None:
        """The text of a location in this document; what speaks of a notebook as a whole stands in its first cell."""
        texts = self._document.texts
        return self._document.text_at(location.cell) or (texts[0] if texts else None)

    def _converted(self, diagnostic: Diagnostic, text: TextDocument) -> types.Diagnostic:
        page = rule_page(diagnostic.name)
        message = diagnostic.message
        related = self._related(diagnostic)
        if related and not self._client.shows_related:
            message += "".join(f"\n{each.message} (line {each.location.range.start.line + 1})" for each in related)
        if diagnostic.help:
            message += f"\nhelp: {diagnostic.help}"
        return types.Diagnostic(
            range=text.lines.range_to_client(diagnostic.location.range, self._client.encoding),
            message=message,
            severity=_SEVERITIES[diagnostic.severity],
            code=diagnostic.code,
            code_description=types.CodeDescription(page) if page and self._client.shows_rule_pages else None,
            source=SOURCE,
            tags=self._tags(diagnostic),
            related_information=related if related and self._client.shows_related else None,
            data=self._data(diagnostic, text),
        )

    def _tags(self, diagnostic: Diagnostic) -> list[types.DiagnosticTag] | None:
        is_unnecessary = diagnostic.code == UNUSED_SUPPRESSION.code and self._client.fades_what_is_unnecessary
        return [types.DiagnosticTag.Unnecessary] if is_unnecessary else None

    def _related(self, diagnostic: Diagnostic) -> list[types.DiagnosticRelatedInformation]:
        found: list[types.DiagnosticRelatedInformation] = []
        for related in diagnostic.related:
            target = self._target(related.location)
            if target is not None:
                place = target.lines.range_to_client(related.location.range, self._client.encoding)
                found.append(types.DiagnosticRelatedInformation(types.Location(target.uri, place), related.message))
        return found

    def _target(self, location: Location) -> _Target | None:
        if location.path == self._source.path:
            text = self._text_of(location)
            return None if text is None else _Target(text.uri, text.version, text.lines)
        path = absolute(Path(location.path))
        document = self._documents.at(path)
        if isinstance(document, TextDocument):
            return _Target(document.uri, document.version, document.lines)
        if path not in self._lines_on_disk:
            try:
                self._lines_on_disk[path] = Lines(Source.from_bytes(location.path, path.read_bytes()).text)
            except OSError:
                return None
        return _Target(uri_of(path), None, self._lines_on_disk[path])

    def _data(self, diagnostic: Diagnostic, text: TextDocument) -> dict[str, Any]:
        """All that the code actions on a diagnostic need, as JSON: nothing is linted when they are asked for."""
        data: dict[str, Any] = {"version": text.version, "name": diagnostic.name}
        if diagnostic.fix is not None and (edits := self._edits(diagnostic.fix.edits)):
            safe = diagnostic.fix.applicability is Applicability.SAFE
            data["fix"] = {"title": diagnostic.fix.message, "safe": safe, "edits": edits}
        if diagnostic.code not in _OWN_CODES:
            line = noqa_edits(self._source, [(self._module_row(diagnostic.location), diagnostic.code)])
            whole = ignore_file_edit(self._source, diagnostic.code)
            data["line"] = self._edits(line)
            data["file"] = self._edits([whole] if whole is not None else [])
        return data

    def _module_row(self, location: Location) -> int:
        first = next((cell.first_row for cell in self._source.cells if cell.number == location.cell), 1)
        return first + location.range.start.row - 1

    def _edits(self, edits: Iterable[Edit]) -> list[dict[str, Any]]:
        """Edits by text, as `{"uri", "version", "edits"}`; none where one of them can't be expressed."""
        by_uri: dict[str, dict[str, Any]] = {}
        for edit in edits:
            target = self._target(edit.location)
            if target is None:
                return []
            entry = by_uri.setdefault(target.uri, {"uri": target.uri, "version": target.version, "edits": []})
            place, content = text_edit(target.lines, edit.location.range, edit.content, self._client.encoding)
            entry["edits"].append(
                {
                    "range": {
                        "start": {"line": place.start.line, "character": place.start.character},
                        "end": {"line": place.end.line, "character": place.end.character},
                    },
                    "newText": content,
                }
            )
        return list(by_uri.values())


def text_edit(lines: Lines, place: Range, content: str, encoding: str) -> tuple[types.Range, str]:
    """One edit of ours as the client's, with the line ends of the text.

    A line that is inserted below the last one becomes a line of its own, whether the text ends with a line end or not.
    """
    if place.start == place.end and place.start.row > len(lines.starts):
        content = "\n" + content.removesuffix("\n")
    range_ = types.Range(_clamped(lines, place, encoding, end=False), _clamped(lines, place, encoding, end=True))
    return range_, content.replace("\n", lines.line_end)


def _clamped(lines: Lines, place: Range, encoding: str, *, end: bool) -> types.Position:
    position = place.end if end else place.start
    return lines.to_client(position, encoding) if position.row <= len(lines.starts) else lines.end(encoding)


def settings_diagnostic(error: SettingsError, text: Mapping[int, str]) -> types.Diagnostic:
    """What is wrong with a settings file, on its line; `text` holds lines by their number from 1."""
    row = error.line or 1
    width = len(text.get(row, ""))
    return types.Diagnostic(
        range=types.Range(types.Position(row - 1, 0), types.Position(row - 1, width)),
        message=error.message,
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
    )
