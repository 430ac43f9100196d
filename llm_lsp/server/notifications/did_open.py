"""`textDocument/didOpen`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidOpenTextDocumentParams) -> None:
    """The client owns the text from now on."""
    session.opened(session.documents.open(params.text_document))
