"""What editors do, done to a session in this process."""

from __future__ import annotations

import os
from pathlib import Path

from lsprotocol import types

from llm_lsp.server.notifications import did_change, did_change_watched_files, did_close, did_open
from llm_lsp.server.requests import diagnostic
from tests.server.desk import Desk, text_item

__all__ = ["change_text", "close_text", "codes", "open_text", "pulled", "told_of", "write"]


def open_text(desk: Desk, path: Path, text: str, version: int = 1) -> str:
    """Open a Python file with a text; its URI."""
    did_open.handle(desk.session, types.DidOpenTextDocumentParams(text_item(path, text, version)))
    return path.as_uri()


def change_text(desk: Desk, uri: str, text: str, version: int) -> None:
    identifier = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
    whole = types.TextDocumentContentChangeWholeDocument(text)
    did_change.handle(desk.session, types.DidChangeTextDocumentParams(identifier, [whole]))


def close_text(desk: Desk, uri: str) -> None:
    did_close.handle(desk.session, types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))


async def pulled(desk: Desk, uri: str, previous: str | None = None) -> types.DocumentDiagnosticReport:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
    return await diagnostic.handle(desk.session, params)


def codes(report: object) -> list[object]:
    """Of the diagnostics of a full report."""
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return [each.code for each in report.items]


def write(path: Path, text: str) -> Path:
    """Write a file so that it looks changed, however coarse the clock of the file system is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))
    return path


def told_of(desk: Desk, *paths: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
    events = [types.FileEvent(path.as_uri(), kind) for path in paths]
    did_change_watched_files.handle(desk.session, types.DidChangeWatchedFilesParams(events))
