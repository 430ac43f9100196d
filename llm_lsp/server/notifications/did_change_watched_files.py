"""`workspace/didChangeWatchedFiles`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session
from llm_lsp.server.uris import path_of

__all__ = ["handle"]


def handle(session: Session, params: types.DidChangeWatchedFilesParams) -> None:
    """Files changed on the disk, were made, or are gone."""
    session.files_changed([path for change in params.changes if (path := path_of(change.uri)) is not None])
