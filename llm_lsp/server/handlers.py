"""Which file answers which method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types

from llm_lsp.server.notifications import (
    did_change,
    did_change_configuration,
    did_change_notebook,
    did_change_watched_files,
    did_change_workspace_folders,
    did_close,
    did_close_notebook,
    did_open,
    did_open_notebook,
    did_save,
    progress_cancel,
)
from llm_lsp.server.requests import (
    code_action,
    code_action_resolve,
    code_lens,
    completion,
    execute_command,
    hover,
    inlay_hint,
)

__all__ = ["COMMANDS", "HANDLERS", "options_of"]

COMMANDS = execute_command.COMMANDS

HANDLERS: dict[str, Callable[..., Any]] = {
    types.TEXT_DOCUMENT_DID_OPEN: did_open.handle,
    types.TEXT_DOCUMENT_DID_CHANGE: did_change.handle,
    types.TEXT_DOCUMENT_DID_SAVE: did_save.handle,
    types.TEXT_DOCUMENT_DID_CLOSE: did_close.handle,
    types.NOTEBOOK_DOCUMENT_DID_OPEN: did_open_notebook.handle,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: did_change_notebook.handle,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: did_close_notebook.handle,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration.handle,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: did_change_watched_files.handle,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: did_change_workspace_folders.handle,
    types.TEXT_DOCUMENT_CODE_ACTION: code_action.handle,
    types.CODE_ACTION_RESOLVE: code_action_resolve.handle,
    types.TEXT_DOCUMENT_CODE_LENS: code_lens.handle,
    types.TEXT_DOCUMENT_COMPLETION: completion.handle,
    types.TEXT_DOCUMENT_HOVER: hover.handle,
    types.TEXT_DOCUMENT_INLAY_HINT: inlay_hint.handle,
    types.WORKSPACE_EXECUTE_COMMAND: execute_command.handle,
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL: progress_cancel.handle,
}
"""Each is called with the session and the parameters. Diagnostics are registered when the client says how it takes
them."""


def options_of(method: str) -> object:
    """What the client is told of a method, besides that it is there."""
    match method:
        case types.TEXT_DOCUMENT_CODE_ACTION:
            kinds = [types.CodeActionKind.QuickFix, code_action.FIX_ALL, code_action.NOTEBOOK_FIX_ALL]
            return types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
        case types.TEXT_DOCUMENT_COMPLETION:
            return types.CompletionOptions(trigger_characters=completion.TRIGGERS)
        case types.TEXT_DOCUMENT_DID_SAVE:
            return types.SaveOptions(include_text=False)
        case _:
            return None
