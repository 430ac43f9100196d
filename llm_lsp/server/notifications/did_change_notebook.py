"""`notebookDocument/didChange`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import LOGGER, Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidChangeNotebookDocumentParams) -> None:
    """Cells changed, moved, came or went; nothing is shown any more of those that are gone."""
    before = session.documents.document(params.notebook_document.uri)
    changed = session.documents.change_notebook(params.notebook_document, params.change)
    if before is None or changed is None:
        LOGGER.error("%s was changed, but is not open", params.notebook_document.uri)
        return
    notebook, gone = changed
    session.changed(notebook, before)
    session.clear(gone)
