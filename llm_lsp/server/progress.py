"""How far a run has come, as a client shows it."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.probe.protocol import Progress
from llm_lsp.server.client import Client

__all__ = ["RunProgress"]

_STAGES = {
    "start": "importing torch",
    "import": "importing the file",
    "construct": "making the model",
    "forward": "running it",
}


class RunProgress:
    """The progress of one run, from the moment at which the client has something to show it in.

    Args:
        client: who shows it.
        title: what is being done.
    """

    def __init__(self, client: Client, title: str) -> None:
        self._client = client
        self._title = title
        self._stage = "start"
        self._token: types.ProgressToken | None = None
        self._is_over = False

    def begin(self, token: types.ProgressToken) -> None:
        """From now on it is shown under this token."""
        if not self._is_over:
            self._token = token
            begin = types.WorkDoneProgressBegin(self._title, cancellable=True, message=_STAGES.get(self._stage))
            self._client.report_progress(token, begin)

    def report(self, event: Progress) -> None:
        """One step further."""
        # Per cent may not go back, and each stage begins anew: only the longest one is counted.
        is_counted = event.stage == "forward" and event.total > 0
        if self._token is not None and (is_counted or self._stage != event.stage):
            percentage = min(100, 100 * event.done // event.total) if is_counted else None
            report = types.WorkDoneProgressReport(message=_STAGES.get(event.stage, event.stage), percentage=percentage)
            self._client.report_progress(self._token, report)
        self._stage = event.stage

    def end(self) -> None:
        """There is nothing to wait for any more."""
        self._is_over = True
        if self._token is not None:
            self._client.report_progress(self._token, types.WorkDoneProgressEnd())
            self._token = None
