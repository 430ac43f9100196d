"""`window/workDoneProgress/cancel`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


def handle(session: Session, params: types.WorkDoneProgressCancelParams) -> None:
    """The user does not want to wait for a run any longer."""
    session.probing.cancel(params.token)
