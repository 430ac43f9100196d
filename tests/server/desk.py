"""A session in this process, with a client that writes down what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from lsprotocol import types

from llm_lsp import registry
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.session import Session

__all__ = ["PULLING", "PUSHED_TO", "Desk", "at_desk", "text_item"]

T = TypeVar("T")

PUSHED_TO = ClientCapabilities(shows_related=True, takes_code_actions=True, shows_markdown=True)
PULLING = ClientCapabilities(
    pulls_diagnostics=True,
    refreshes_diagnostics=True,
    shows_related=True,
    takes_code_actions=True,
    shows_markdown=True,
    changes_documents=True,
    resolves_edits=True,
)
PATIENCE = 60


class Desk:
    """The client, and the session that serves it."""

    def __init__(self, folder: Path, capabilities: ClientCapabilities, options: object) -> None:
        self.published: list[tuple[str, int | None, list[types.Diagnostic]]] = []
        self.messages: list[str] = []
        self.kinds: list[types.MessageType] = []
        self.traced: list[str] = []
        self.refreshed: list[str] = []
        self.watched: list[str] = []
        self.documents: list[str] = []
        self.partial: list[tuple[types.ProgressToken, object]] = []
        self.probe_results: list[dict[str, object]] = []
        self.created: list[types.ProgressToken] = []
        self.progress: list[tuple[types.ProgressToken, object]] = []
        self._news = asyncio.Condition()
        self.session = Session(self, registry.entries())
        self.session.debounce = 0
        self.session.longest_wait = 0
        self.session.begin(capabilities, [types.WorkspaceFolder(folder.as_uri(), folder.name)], options)
        self.session.ready()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something holds that is looked at again at each word of the server."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(is_so), PATIENCE)

    async def next_published(self, uri: str, count: int = 1) -> list[types.Diagnostic]:
        """The diagnostics of a text, once they were published so often."""
        await self.until(lambda: sum(each[0] == uri for each in self.published) >= count)
        return [each[2] for each in self.published if each[0] == uri][count - 1]

    def shown(self, uri: str) -> list[types.Diagnostic]:
        """What a user sees of a text now."""
        found = [each[2] for each in self.published if each[0] == uri]
        return found[-1] if found else []

    async def settled(self) -> None:
        """Wait until nothing is scheduled and nothing runs."""
        while tasks := list(self.session.tasks):
            await asyncio.wait(tasks, timeout=PATIENCE)

    # ------------------------------------------------------------ the client

    def publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        self.published.append((uri, version, list(diagnostics)))
        self._tell()

    def show_message(self, message: str, kind: types.MessageType) -> None:
        self.messages.append(message)
        self.kinds.append(kind)
        self._tell()

    def trace(self, message: str) -> None:
        self.traced.append(message)
        self._tell()

    def refresh_diagnostics(self) -> None:
        self.refreshed.append("diagnostics")
        self._tell()

    def refresh_code_lenses(self) -> None:
        self.refreshed.append("code lenses")

    def refresh_inlay_hints(self) -> None:
        self.refreshed.append("inlay hints")

    def register_watchers(self, names: Sequence[str]) -> None:
        self.watched += names

    def show_document(self, uri: str) -> None:
        self.documents.append(uri)

    def send_probe_result(self, message: Mapping[str, object]) -> None:
        self.probe_results.append(dict(message))
        self._tell()

    async def create_progress(self, token: types.ProgressToken) -> None:
        self.created.append(token)

    def send_partial_result(self, token: types.ProgressToken, value: object) -> None:
        self.partial.append((token, value))

    def report_progress(self, token: types.ProgressToken, value: object) -> None:
        self.progress.append((token, value))
        self._tell()

    def _tell(self) -> None:
        async def tell() -> None:
            async with self._news:
                self._news.notify_all()

        self._telling = asyncio.ensure_future(tell())


def at_desk(
    folder: Path,
    work: Callable[[Desk], Awaitable[T]],
    *,
    capabilities: ClientCapabilities = PULLING,
    options: object = None,
) -> T:
    """What `work` does with a session whose workspace is `folder`."""

    async def run() -> T:
        desk = Desk(folder, capabilities, options)
        try:
            return await work(desk)
        finally:
            desk.session.end()

    return asyncio.run(run())


def text_item(path: Path, text: str | None = None, version: int = 1) -> types.TextDocumentItem:
    """A Python file as it is opened."""
    content = path.read_text(encoding="utf-8") if text is None else text
    return types.TextDocumentItem(path.as_uri(), types.LanguageKind.Python, version, content)
