"""Runs that the user asks for from the editor, one for each class at a time, and what is known from the last ones."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path
from typing import NamedTuple, Protocol

from lsprotocol import types

from llm_lsp.files import shown
from llm_lsp.probe.client import Probes
from llm_lsp.probe.interpreter import InterpreterNotFoundError, find_interpreter, interpreter_at
from llm_lsp.probe.protocol import Done, Event, Notice, Partial, Progress, Request, Result
from llm_lsp.probe.sites import target_in_function
from llm_lsp.probe.wording import failure
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.client import Client
from llm_lsp.server.documents import Documents, TextDocument
from llm_lsp.server.options import Options
from llm_lsp.server.probe_views import ProbeView, lines_of
from llm_lsp.server.progress import RunProgress
from llm_lsp.server.uris import key_of

__all__ = ["Probing", "Question"]


class Question(NamedTuple):
    """What is to be run."""

    uri: str
    name: str | None
    """None for every module class of the file."""
    kind: str = "class"
    args: str | None = None


class Surroundings(Protocol):
    """What of the session a run needs."""

    client: Client
    capabilities: ClientCapabilities
    options: Options
    documents: Documents

    def folder_of(self, path: Path) -> Path:
        """The workspace folder of a file."""
        ...

    async def python_of(self, path: Path) -> Path | None:
        """The interpreter or environment that the settings of a file name."""
        ...

    def show_again(self) -> None:
        """Diagnostics, lenses and hints may be others now."""
        ...


class Probing:
    """The probe's part of a session; lives in the event loop.

    Args:
        session: what it is part of.
    """

    def __init__(self, session: Surroundings) -> None:
        self._session = session
        self.probes = Probes()
        self._views: dict[str, dict[str | None, ProbeView]] = {}
        """The last results, by the key of the document and the name that was asked for."""
        self._questions: dict[str, dict[str | None, Question]] = {}
        self._running: dict[tuple[str, str | None], asyncio.Task[Done]] = {}
        self._by_token: dict[types.ProgressToken, asyncio.Task[Done]] = {}
        self._showing: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)

    # ------------------------------------------------------------ runs

    async def ask(
        self, question: Question, *, asked: bool, token: types.ProgressToken | None = None
    ) -> dict[str, object] | None:
        """Run what is asked for, and show what comes of it.

        Args:
            question: what is run.
            asked: whether the user waits for it; otherwise a file was saved.
            token: under which the client shows the progress, if it has one.

        Returns:
            The result as clients are told it; None where nothing was run, and the reason was shown.
        """
        refusal = self._refusal(question)
        if refusal is not None:
            self._session.client.show_message(f"llm-lint: {refusal}", types.MessageType.Warning)
            return None
        key = key_of(question.uri), question.name
        before = self._running.get(key)
        if before is not None:
            before.cancel()
        title = f"Checking the shapes of {question.name}" if question.name else "Checking shapes"
        progress = RunProgress(self._session.client, title)
        task = asyncio.ensure_future(self._run(question, progress, asked=asked))
        self._running[key] = task
        if token is not None or (asked and self._session.capabilities.shows_progress):
            showing = asyncio.ensure_future(self._show(progress, token, task))
            self._showing.add(showing)
            showing.add_done_callback(self._showing.discard)
        try:
            done = await task
        except asyncio.CancelledError:
            done = Done.failed("cancelled", "cancelled")
        except InterpreterNotFoundError as error:
            done = Done.failed("no_torch", str(error))
        finally:
            progress.end()
            self._by_token = {each: run for each, run in self._by_token.items() if run is not task}
            if self._running.get(key) is task:
                del self._running[key]
        return self._take(question, done, asked=asked)

    def _refusal(self, question: Question) -> str | None:
        document = self._session.documents.document(question.uri)
        path = document.path if document is not None else None
        if not self._session.options.trusted:
            return "the workspace is not trusted, so no program of it is started"
        if not isinstance(document, TextDocument) or not document.is_python:
            return "only Python files that are open can be checked"
        if path is None or not path.is_file():
            return "the file has to be saved before it can be run"
        return None

    async def _run(self, question: Question, progress: RunProgress, *, asked: bool) -> Done:
        session = self._session
        document = session.documents.text(question.uri)
        if document is None or document.path is None:
            return Done.failed("unsupported", "the file is not open")
        path = document.path
        folder = session.folder_of(path)
        python = await self._interpreter(path, folder)
        saved = (await asyncio.to_thread(path.read_bytes)).decode("utf-8-sig", "replace")
        target = question.name if question.kind != "function" else target_in_function(saved, question.name or "")
        if question.name is not None and target is None:
            return Done.failed("unsupported", f"it is not known which model `{question.name}` builds")
        request = Request(path, target, folder, question.args)

        def hear(event: Event) -> None:
            if isinstance(event, Progress):
                progress.report(event)
            elif isinstance(event, Partial):
                self._notify(question, Done("running", event.result), asked=asked)

        done = await self.probes.of(python, folder).run(request, hear)
        return _with_unsaved(done, document, saved)

    async def _interpreter(self, path: Path, folder: Path) -> Path:
        named = self._session.options.of(path).interpreter
        if named:
            return interpreter_at(_in_folder(named, folder), os.environ)
        of_settings = await self._session.python_of(path)
        if of_settings is not None:
            return interpreter_at(of_settings, os.environ)
        return find_interpreter(dict.fromkeys((path.parent, folder)), os.environ)

    def _take(self, question: Question, done: Done, *, asked: bool) -> dict[str, object]:
        """Keep and show how a run has ended."""
        key = key_of(question.uri)
        document = self._session.documents.text(question.uri)
        if done.status != "cancelled" and document is not None and document.path is not None:
            views = self._views.setdefault(key, {})
            if question.name is None:
                views.clear()
            texts = lines_of(done, document.path)
            views[question.name] = ProbeView(question.name, question.kind, done, texts, next(self._numbers))
            self._questions.setdefault(key, {})[question.name] = question
            self._session.show_again()
        if asked and done.status not in ("ok", "user_error", "cancelled"):
            self._session.client.show_message(self._message(question, done), types.MessageType.Warning)
        return self._notify(question, done, asked=asked)

    def _message(self, question: Question, done: Done) -> str:
        what = question.name or shown(Path(question.uri.rpartition("/")[2]))
        paste = done.result.get("paste")
        more = f" (write above it what it takes: `{paste}`)" if paste else ""
        return f"llm-lint: {what}: {failure(done)}{more}"

    def _notify(self, question: Question, done: Done, *, asked: bool) -> dict[str, object]:
        message: dict[str, object] = {"uri": question.uri, "name": question.name, "asked": asked, **done.as_message()}
        if self._session.capabilities.takes_probe_results:
            self._session.client.send_probe_result(message)
        return message

    # ------------------------------------------------------------ progress

    async def _show(self, progress: RunProgress, token: types.ProgressToken | None, run: asyncio.Task[Done]) -> None:
        """Show the progress as soon as the client can; the run does not wait for it."""
        if token is None:
            token = f"llm-lint probe {next(self._numbers)}"
            await self._session.client.create_progress(token)
        if not run.done():
            self._by_token[token] = run
            progress.begin(token)

    def cancel(self, token: types.ProgressToken) -> None:
        """The user does not want to wait any longer."""
        task = self._by_token.get(token)
        if task is not None:
            task.cancel()

    # ------------------------------------------------------------ what is shown

    def saved(self, uri: str) -> list[Question]:
        """What was checked in a file, and is to be checked again now that it is saved."""
        return list(self._questions.get(key_of(uri), {}).values())

    def closed(self, uri: str) -> None:
        """Nothing is shown of a file any more."""
        self._views.pop(key_of(uri), None)
        self._questions.pop(key_of(uri), None)
        for (key, _), task in list(self._running.items()):
            if key == key_of(uri):
                task.cancel()

    def stamp(self, text: TextDocument) -> str:
        """Another text for other results; empty where there are none."""
        return ",".join(str(view.number) for view in self._speaking_of(text))

    def diagnostics(self, text: TextDocument) -> list[types.Diagnostic]:
        """Those of a text; the same fault, met from two classes, is one."""
        capabilities = self._session.capabilities
        found: dict[object, types.Diagnostic] = {}
        for view in self._speaking_of(text):
            for each in view.diagnostics(text, capabilities.encoding, shows_related=capabilities.shows_related):
                start, end = each.range.start, each.range.end
                found[start.line, start.character, end.line, end.character, each.message] = each
        return list(found.values())

    def hints(self, text: TextDocument) -> list[types.InlayHint]:
        """The shapes in a text; where two runs differ, those of the last one."""
        found: dict[tuple[int, int], types.InlayHint] = {}
        for view in self._speaking_of(text):
            for hint in view.hints(text, self._session.capabilities.encoding):
                found[hint.position.line, hint.position.character] = hint
        return list(found.values())

    def summary(self, uri: str, name: str) -> str | None:
        """The line above a class or function."""
        views = sorted(self._views.get(key_of(uri), {}).values(), key=lambda view: view.number)
        told = {each: words for view in views for each, words in view.summaries()}
        return told.get(name)

    def last(self, uri: str, name: str | None) -> dict[str, object] | None:
        """The last result, which the client is told again."""
        views = self._views.get(key_of(uri), {})
        view = views.get(name) or views.get(None)
        if view is None:
            return None
        return self._notify(Question(uri, view.name, view.kind), view.done, asked=True)

    def _speaking_of(self, text: TextDocument) -> list[ProbeView]:
        views = [view for each in self._views.values() for view in each.values() if text.path in view.texts]
        return sorted(views, key=lambda view: view.number)

    def end(self) -> None:
        """Stop all runs."""
        for task in self._running.values():
            task.cancel()
        self.probes.close()


def _in_folder(named: str, folder: Path) -> Path:
    """A setting counts from the folder that it is for; a bare name is looked up on PATH."""
    path = Path(named).expanduser()
    return folder / path if len(path.parts) > 1 else path


def _with_unsaved(done: Done, document: TextDocument, saved: str) -> Done:
    if document.text.splitlines() == saved.splitlines():
        return done
    message = "the file was run as it is saved, without the changes since"
    notice: Notice = {"kind": "unsaved", "message": message, "file": None, "line": None}
    result: Result = {**done.result, "notices": [*(done.result.get("notices") or ()), notice]}
    return Done(done.status, result)
