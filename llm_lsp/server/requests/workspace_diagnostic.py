"""`workspace/diagnostic`: the files of the workspace that are not open."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session
from llm_lsp.server.survey import Survey

__all__ = ["handle"]


async def handle(session: Session, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """A report for each file, in parts where the client takes them, with progress where it shows that.

    A client that has been told of all files asks again and again; it is answered when there is something new.
    """
    known = {previous.uri: previous.value for previous in params.previous_result_ids}
    await session.news(wait=bool(known))
    survey = Survey(session)
    begun = types.WorkDoneProgressBegin(title="llm-lint", cancellable=True, percentage=0)
    if params.work_done_token is not None:
        session.client.report_progress(params.work_done_token, begun)
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    async for report, done, total in survey.reports(known):
        reports.append(report)
        if params.partial_result_token is not None:
            part = types.WorkspaceDiagnosticReportPartialResult(items=[report])
            session.client.send_partial_result(params.partial_result_token, part)
        if params.work_done_token is not None:
            state = types.WorkDoneProgressReport(percentage=100 * done // max(1, total))
            session.client.report_progress(params.work_done_token, state)
    if params.work_done_token is not None:
        session.client.report_progress(params.work_done_token, types.WorkDoneProgressEnd())
    return types.WorkspaceDiagnosticReport(items=[] if params.partial_result_token is not None else reports)
