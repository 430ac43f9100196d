"""`codeAction/resolve`: the edit of an action that was only named before."""

from __future__ import annotations

from typing import Any, cast

from lsprotocol import types

from llm_lsp.server.client_edits import workspace_edit
from llm_lsp.server.fixing import changed_texts
from llm_lsp.server.session import Session

__all__ = ["edit_of_all_fixes", "handle"]


async def handle(session: Session, params: types.CodeAction) -> types.CodeAction:
    """All safe fixes of the document as it is now."""
    data: Any = params.data
    uri = cast("dict[str, object]", data).get("fixAll") if isinstance(data, dict) else None
    if params.edit is None and isinstance(uri, str):
        params.edit = await edit_of_all_fixes(session, uri) or types.WorkspaceEdit()
    return params


async def edit_of_all_fixes(session: Session, uri: str) -> types.WorkspaceEdit | None:
    """The edit that applies all safe fixes; None where there is nothing to fix."""
    from llm_lsp.fixes import FixesDoNotSettle

    document = session.documents.document(uri)
    if document is None:
        return None

    def work() -> list[tuple[str, int | None, list[types.TextEdit]]]:
        unit = session.projects.unit(document)
        if unit is None:
            return []
        changed = changed_texts(document, unit, session.capabilities.encoding, session.log_crash)
        return [(text.uri, text.version, [edit]) for text, edit in changed]

    try:
        edits = await session.in_worker(work)
    except FixesDoNotSettle as error:
        session.tell_once("fixes", f"llm-lint: {error}")
        return None
    return workspace_edit(session.capabilities, edits) if edits else None
