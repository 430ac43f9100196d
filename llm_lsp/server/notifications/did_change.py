"""`textDocument/didChange`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import LOGGER, Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidChangeTextDocumentParams) -> None:
    """The text is another one; a check of the old one stops."""
    before = session.documents.text(params.text_document.uri)
    changed = session.documents.change(params.text_document, params.content_changes)
    if before is None or changed is None:
        LOGGER.error("%s was changed, but is not open", params.text_document.uri)
        return
    if changed.version <= before.version:
        # It is applied all the same: an edit that is left out would shift everything that follows.
        LOGGER.warning("%s went from version %s to %s", changed.uri, before.version, changed.version)
    session.changed(changed, before)
