"""`workspace/didChangeWorkspaceFolders`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders join or leave the workspace."""
    session.change_folders(params.event.added, params.event.removed)
