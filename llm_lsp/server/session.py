"""One session: what is open, what was found in it, and what is being worked on.

Everything here runs in the event loop, except for the checks themselves, which run one after the other in a thread. A
keystroke stops the check that it outdates.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types

from llm_lsp import registry
from llm_lsp.linter import Crash
from llm_lsp.registry import RuleEntry
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.checking import Checker, Result
from llm_lsp.server.client import Client
from llm_lsp.server.documents import Document, Documents, Notebook
from llm_lsp.server.options import Options, read_options
from llm_lsp.server.probing import Probing, Question
from llm_lsp.server.projects import WATCHED, Projects
from llm_lsp.server.reports import settings_diagnostic
from llm_lsp.server.uris import key_of, path_of, uri_of

__all__ = ["DEBOUNCE", "LOGGER", "Session"]

LOGGER = logging.getLogger("llm_lsp.server")

DEBOUNCE = 0.1
"""Seconds after the last keystroke before something is pushed; a client that pulls has a delay of its own."""

LONGEST_WAIT = 30
"""Seconds that a client waits for news of the whole workspace, if nobody tells of any: files change untold."""

T = TypeVar("T")


class _OutdatedError(Exception):
    """The text that was being checked is another one by now."""


class _Run(NamedTuple):
    """A check that was begun."""

    document: Document
    stop: Event
    outcome: asyncio.Future[Result]


class Session:
    """The state of one connection.

    Args:
        client: the other end.
        rules: those that are installed.
    """

    def __init__(self, client: Client, rules: tuple[RuleEntry, ...]) -> None:
        self.client = client
        self.rules = rules
        self.capabilities = ClientCapabilities()
        self.options = Options()
        self.documents = Documents()
        self.projects = Projects(self.documents, rules, self._tell_from_thread)
        self.debounce = DEBOUNCE
        self.checker = Checker(self.projects, self.capabilities, self.log_crash)
        self._worker = ThreadPoolExecutor(1, "llm-lint check")
        self.surveyed: dict[Path, Result] = {}
        """Of files of the workspace that are not open; touched by the worker alone."""
        self.longest_wait: float = LONGEST_WAIT
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runs: dict[str, _Run] = {}
        self._results: dict[str, Result] = {}
        self._published: dict[str, tuple[Result, str]] = {}
        """Of each document the result, and the stamp of what the probe said of it."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._settings_shown: dict[Path, str] = {}
        self._told: set[str] = set()
        self._pages: TemporaryDirectory[str] | None = None
        self.probing = Probing(self)

    # ------------------------------------------------------------ beginning and end

    def begin(
        self, capabilities: ClientCapabilities, folders: Sequence[types.WorkspaceFolder], options: object
    ) -> None:
        """Take in what the client says of itself."""
        self.capabilities = capabilities
        self.documents.encoding = capabilities.encoding
        self.checker = Checker(self.projects, capabilities, self.log_crash)
        self.change_folders(added=folders, removed=())
        self._take_options(options)

    def ready(self) -> None:
        """The client listens now, and will soon open something."""
        self._worker.submit(self._warm_up)
        if self.capabilities.registers_watchers:
            self.client.register_watchers(WATCHED)

    def _warm_up(self) -> None:
        """Load what checking needs, so that neither the start of the editor nor the first check has to wait for it."""
        from llm_lsp.server import sights

        LOGGER.debug("%s is loaded", sights.__name__)
        for rule in self.rules:
            if rule.default and not rule.is_builtin:
                with suppress(registry.RegistryError):  # that is told of when the rule is to run
                    registry.load(rule)

    def collect_garbage(self) -> None:
        """Look for garbage, after the checks that were asked for: 5 ms where a file is open, 30 where many are."""
        with suppress(RuntimeError):  # the session is over
            self._worker.submit(gc.collect)

    def end(self) -> None:
        """Stop all work; nothing is said any more."""
        for task in self._tasks.values():
            task.cancel()
        for run in self._runs.values():
            run.stop.set()
        self.probing.end()
        self._worker.shutdown(wait=False, cancel_futures=True)
        if self._pages is not None:
            self._pages.cleanup()

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """What is scheduled, or being done, to show something."""
        return list(self._tasks.values())

    @property
    def kept(self) -> int:
        """How many results are kept."""
        return len(self._results) + len(self._published) + len(self._runs)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Of the workspace."""
        return self.projects.folders

    # ------------------------------------------------------------ results

    async def current(self, uri: str) -> Result | None:
        """The result for a document as it is now, whatever the client types meanwhile; None if it is not open."""
        key = self._key(uri)
        while (document := self.documents.document(uri)) is not None:
            run = self._runs.get(key)
            if run is None or run.document is not document:
                run = self._begin(key, document)
            try:
                result = await asyncio.shield(run.outcome)
            except _OutdatedError:
                continue
            if self.documents.document(uri) is document:
                self._show_settings_problems()
                return result
        return None

    def last(self, uri: str) -> Result | None:
        """The result for a document as it is now, if there is one already."""
        result = self._results.get(self._key(uri))
        return result if result is not None and result.document is self.documents.document(uri) else None

    def latest(self, uri: str) -> Result | None:
        """The last result for a document, though the text may be another one by now."""
        return self._results.get(self._key(uri))

    async def in_worker(self, work: Callable[[], T]) -> T:
        """What `work` returns, which may ask the projects anything."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _begin(self, key: str, document: Document) -> _Run:
        loop = asyncio.get_running_loop()
        self._loop = loop
        outdated = self._runs.get(key)
        if outdated is not None:
            outdated.stop.set()
        before, stop = self._results.get(key), Event()

        def work() -> Result:
            if stop.is_set():
                raise _OutdatedError
            from llm_lsp.facts import Stopped

            try:
                return self.checker.check(document, before, stop.is_set)
            except Stopped:
                raise _OutdatedError from None

        run = _Run(document, stop, loop.run_in_executor(self._worker, work))
        self._runs[key] = run

        def done(outcome: asyncio.Future[Result]) -> None:
            if self._runs.get(key) is run:
                del self._runs[key]
            failure = None if outcome.cancelled() else outcome.exception()
            if outcome.cancelled() or failure is not None or self.documents.document(document.uri) is not document:
                return
            result = outcome.result()
            self._results[key] = result
            if result is not before:
                count = sum(map(len, result.reports.values()))
                self.client.trace(f"checked version {document.version} of {document.uri}: {count} diagnostics")

        run.outcome.add_done_callback(done)
        return run

    # ------------------------------------------------------------ changes

    async def news(self, *, wait: bool) -> None:
        """Begin to look for changes, once there was one since that was begun last, or after some time."""
        if wait:
            with suppress(TimeoutError, asyncio.TimeoutError):  # two classes below Python 3.11
                await asyncio.wait_for(self._news.wait(), self.longest_wait)
        self._news.clear()

    def opened(self, document: Document) -> None:
        """A document is there."""
        self._news.set()
        self._outdate(document.uri)
        if self.is_pushed(document.uri):
            self._schedule(document.uri, 0)
        if document.path is not None:
            # What it imported on the disk is known; without imports it leads nowhere else now.
            imports = bool(document.imported_words)
            self._check_dependents(document.path, imports_changed=imports, may_be_new=True)

    def changed(self, document: Document, before: Document) -> None:
        """A document is another one now, and those that rest on it may have other diagnostics."""
        self._news.set()
        self._outdate(document.uri)
        if self.is_pushed(document.uri):
            self._schedule(document.uri, self.debounce)
        if document.path is not None and len(self._results) > 1:
            self._check_dependents(document.path, imports_changed=document.outline != before.outline)

    def closed(self, uris: Sequence[str], path: Path | None) -> None:
        """Documents, or cells, are not open any more."""
        self._news.set()
        for uri in uris:
            self.probing.closed(uri)
            key = self._key(uri)
            task = self._tasks.pop(key, None)
            if task is not None:
                task.cancel()
            run = self._runs.pop(key, None)
            if run is not None:
                run.stop.set()
            self._results.pop(key, None)
            self._published.pop(key, None)
        if path is not None:
            # It may have been saved, and the client need not tell.
            self._worker.submit(self.projects.forget_files)
            self._check_dependents(path, imports_changed=True, may_be_new=True)

    def clear(self, uris: Sequence[str]) -> None:
        """Show nothing of texts any more."""
        for uri in uris:
            self.client.publish(uri, None, ())

    def files_changed(self, paths: Sequence[Path]) -> None:
        """Files changed on the disk, by whomever."""
        paths = [path for path in paths if self.documents.at(path) is None]
        if not paths:
            return
        only_modules = all(path.suffix == ".py" for path in paths)
        self._worker.submit(self.projects.forget_files if only_modules else self.projects.forget)
        self.refresh()

    def module_saved(self, path: Path) -> None:
        """A module was saved in the editor; perhaps it was in no file before."""
        self._news.set()
        self._check_dependents(path, imports_changed=False, may_be_new=True)

    def settings_saved(self) -> None:
        """A settings file was saved in the editor."""
        self._worker.submit(self.projects.forget)
        self.refresh()

    def change_options(self, sent: object) -> None:
        """The user has changed the editor's settings."""
        self._take_options(sent)
        self._worker.submit(self.projects.forget)
        self.show_again()

    def change_folders(self, added: Sequence[types.WorkspaceFolder], removed: Sequence[types.WorkspaceFolder]) -> None:
        """Folders join or leave the workspace."""
        gone = {path_of(folder.uri) for folder in removed}
        new = [path for folder in added if (path := path_of(folder.uri)) is not None]
        kept = [path for path in self.projects.folders if path not in gone]
        self.projects.folders = tuple(dict.fromkeys([*kept, *new]))
        self._worker.submit(self.projects.forget)
        self.refresh()

    def refresh(self) -> None:
        """Show everything anew that would be another result now."""
        self._news.set()
        if self.capabilities.pulls_diagnostics and self.capabilities.refreshes_diagnostics and list(self.documents):
            self.client.refresh_diagnostics()
        for document in self.documents:
            if self.is_pushed(document.uri):
                self._schedule(document.uri, 0)

    def show_again(self) -> None:
        """Show everything anew that a client shows: diagnostics, lenses, hints."""
        self.refresh()
        if self.capabilities.refreshes_code_lenses:
            self.client.refresh_code_lenses()
        if self.capabilities.refreshes_inlay_hints:
            self.client.refresh_inlay_hints()

    def is_pushed(self, uri: str) -> bool:
        """Whether diagnostics of a document are pushed: those of notebooks are, since cells are not linted alone."""
        return not self.capabilities.pulls_diagnostics or isinstance(self.documents.document(uri), Notebook)

    def _outdate(self, uri: str) -> None:
        run = self._runs.get(self._key(uri))
        if run is not None and run.document is not self.documents.document(uri):
            run.stop.set()

    def _check_dependents(self, path: Path, *, imports_changed: bool, may_be_new: bool = False) -> None:
        """Have those open documents checked again whose diagnostics rest on a file that has just changed.

        Where its imports are others, it may import files that it did not import before; where it may be new, those count
        that looked for it before there was any.
        """
        dependents = [
            result.document
            for result in self._results.values()
            if result.document.path != path
            and (
                path in result.files
                or (imports_changed and result.asks_for_importers)
                or (may_be_new and result.imports_by_name(path))
            )
        ]
        for document in dependents:
            if self.is_pushed(document.uri):
                self._schedule(document.uri, self.debounce)
        pulled = [document for document in dependents if not self.is_pushed(document.uri)]
        if pulled and self.capabilities.refreshes_diagnostics:
            self._replace_task("refresh", self._refresh_soon())

    async def _refresh_soon(self) -> None:
        await asyncio.sleep(self.debounce)
        self.client.refresh_diagnostics()

    # ------------------------------------------------------------ the probe

    def folder_of(self, path: Path) -> Path:
        """The workspace folder of a file."""
        return self.projects.folder_of(path)

    async def python_of(self, path: Path) -> Path | None:
        """The interpreter or environment that the settings of a file name."""
        return await self.in_worker(lambda: self.projects.project_of(path).file(path).settings.python)

    def check_shapes_again(self, uri: str) -> None:
        """The classes that were checked in a file are checked again: it was saved."""
        for question in self.probing.saved(uri):
            self._replace_task(f"probe {question.name} {self._key(uri)}", self._ask_again(question))

    async def _ask_again(self, question: Question) -> None:
        await self.probing.ask(question, asked=False)

    # ------------------------------------------------------------ publishing

    def _schedule(self, uri: str, delay: float) -> None:
        self._replace_task(self._key(uri), self._push(uri, delay))

    def _replace_task(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        before = self._tasks.get(key)
        if before is not None:
            before.cancel()
        task = asyncio.ensure_future(work)
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._finished(key, done))

    def _finished(self, key: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            LOGGER.error("a check failed", exc_info=error)
            self.tell_once("failure", f"llm-lint: {type(error).__name__}: {error} (the log has more)")

    async def _push(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        result = await self.current(uri)
        if result is None:
            return
        texts = {text.uri: text for text in result.document.texts}
        stamp = ";".join(map(self.probing.stamp, texts.values()))
        if self._published.get(self._key(uri)) == (result, stamp):
            return
        self._published[self._key(uri)] = result, stamp
        for shown_in, diagnostics in result.reports.items():
            of_probe = self.probing.diagnostics(texts[shown_in]) if shown_in in texts else []
            version = texts[shown_in].version if shown_in in texts else None
            self.client.publish(shown_in, version, [*diagnostics, *of_probe])

    def _show_settings_problems(self) -> None:
        """Show what is wrong with settings files, and take back what was."""
        problems = self.projects.problems
        for path in [path for path in self._settings_shown if path not in problems]:
            del self._settings_shown[path]
            self.client.publish(uri_of(path), None, ())
        for path, error in problems.items():
            if self._settings_shown.get(path) != str(error):
                self._settings_shown[path] = str(error)
                self.client.publish(uri_of(path), None, [settings_diagnostic(error, _lines_of(path))])
                self.tell_once(
                    f"settings {path}", f"llm-lint: {error}; the last settings that could be used stay in force"
                )

    # ------------------------------------------------------------ messages

    def written(self, name: str, text: str) -> Path:
        """A text as a file that the client can open, until the session ends."""
        if self._pages is None:
            self._pages = TemporaryDirectory(prefix="llm-lint-", ignore_cleanup_errors=True)
        path = Path(self._pages.name, name)
        path.write_text(text, encoding="utf-8")
        return path

    def tell_once(self, kind: str, message: str, level: types.MessageType = types.MessageType.Warning) -> None:
        """Show a message, unless there was one of its kind in this session."""
        LOGGER.warning("%s", message)
        if kind not in self._told:
            self._told.add(kind)
            self.client.show_message(message, level)

    def _tell_from_thread(self, kind: str, message: str) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.tell_once, kind, message)

    def log_crash(self, crash: Crash) -> None:
        """Write down what a rule raised; callable from any thread."""
        LOGGER.error("%s failed on %s\n%s", crash.code or "the analysis", crash.path, crash.traceback)
        self._tell_from_thread(
            f"crash {crash.code}",
            f"llm-lint: {'rule ' + crash.code if crash.code else 'the analysis'} failed on {crash.path}; "
            "the other rules go on (the log has more)",
        )

    def _take_options(self, sent: object) -> None:
        problems: list[str] = []
        self.options = read_options(sent, problems)
        self.projects.options = self.options
        if self.options.log_level:
            LOGGER.setLevel(self.options.log_level.upper())
        for problem in problems:
            self.tell_once(f"option {problem}", f"llm-lint: in the editor's settings, {problem}")

    def _key(self, uri: str) -> str:
        """One key for all URIs of what is linted as one."""
        document = self.documents.document(uri)
        return key_of(document.uri if document is not None else uri)


def _lines_of(path: Path) -> dict[int, str]:
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return {}
    return dict(enumerate(text.splitlines(), 1))
