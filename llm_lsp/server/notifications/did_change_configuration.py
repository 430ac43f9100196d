"""`workspace/didChangeConfiguration`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


def handle(session: Session, params: types.DidChangeConfigurationParams) -> None:
    """The editor's settings are others; a client that sends none of them wants to be asked, and is left alone."""
    if params.settings:
        session.change_options(params.settings)
