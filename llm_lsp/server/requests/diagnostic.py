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
    texts = result.document.texts
    # Of the probe's last results too: a client that keeps what it has would never see them.
    stamp = ",".join(filter(None, map(session.probing.stamp, texts)))
    result_id = f"{result.id} {stamp}".rstrip()
    if result_id and result_id == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    items = [diagnostic for shown in result.reports.values() for diagnostic in shown]
    items += [diagnostic for text in texts for diagnostic in session.probing.diagnostics(text)]
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id or None)
