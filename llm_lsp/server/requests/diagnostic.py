"""`textDocument/diagnostic`: what the client pulls."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


async def handle(session: Session, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The diagnostics of a text as it is now, or that they are those of the result that the client has.

    A cell has none here: those of notebooks are pushed, cell by cell.
    """
    uri = params.text_document.uri
    if session.is_pushed(uri):
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    result = await session.current(uri)
    if result is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    if result.id and result.id == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result.id)
    items = [diagnostic for shown in result.reports.values() for diagnostic in shown]
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result.id or None)
