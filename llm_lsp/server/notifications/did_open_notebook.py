"""`notebookDocument/didOpen`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidOpenNotebookDocumentParams) -> None:
    """The client owns the notebook and its cells from now on."""
    session.opened(session.documents.open_notebook(params.notebook_document, params.cell_text_documents))
