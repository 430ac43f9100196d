"""`textDocument/didClose`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidCloseTextDocumentParams) -> None:
    """Nothing is shown of the text any more; from now on its file counts."""
    uri = params.text_document.uri
    closed = session.documents.text(uri)
    is_pushed = session.is_pushed(uri)
    session.documents.close(uri)
    session.closed([uri], closed.path if closed is not None else None)
    if is_pushed:
        session.clear([uri])
