"""`textDocument/didSave`."""

from __future__ import annotations

from fnmatch import fnmatch

from lsprotocol import types

from llm_lsp.server.projects import WATCHED
from llm_lsp.server.session import Session
from llm_lsp.server.uris import path_of

__all__ = ["handle"]


def handle(session: Session, params: types.DidSaveTextDocumentParams) -> None:
    """A settings file is looked at again, also for clients that watch no files; a module may be new on the disk.

    What was checked of it by running it is checked again where the user wants that.
    """
    path = path_of(params.text_document.uri)
    if path is None:
        return
    if path.suffix == ".py":
        session.module_saved(path)
        if session.options.trusted and session.options.of(path).probe_on_save:
            session.check_shapes_again(params.text_document.uri)
    elif any(fnmatch(path.name, name) for name in WATCHED):
        session.settings_saved()
