"""`notebookDocument/didClose`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session
from llm_lsp.server.uris import path_of

__all__ = ["handle"]


def handle(session: Session, params: types.DidCloseNotebookDocumentParams) -> None:
    """Nothing is shown of the cells any more."""
    uri = params.notebook_document.uri
    cells = session.documents.close_notebook(uri)
    session.closed([uri], path_of(uri))
    session.clear(cells)
