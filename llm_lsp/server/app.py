"""The server as a program: its handlers, its streams, its end."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder

from llm_lsp import __version__
from llm_lsp.registry import RegistryError, entries
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.client_process import when_ended
from llm_lsp.server.handlers import COMMANDS, HANDLERS, options_of
from llm_lsp.server.idle import Idle
from llm_lsp.server.requests import diagnostic, workspace_diagnostic
from llm_lsp.server.session import LOGGER, Session
from llm_lsp.server.uris import path_of
from llm_lsp.server.workarounds import EditorServer, claim_stdout, messages

__all__ = ["serve_stdio", "serve_tcp"]

PROBE_RESULT = "llm-lint/probeResult"
"""Our own notification, for clients that say that they take it: see `docs/probe.md`."""

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])],
    save=False,
)

_GRACE = 3
"""Seconds for a session to end whose client is gone."""


def serve_stdio(log_level: str) -> int:
    """Serve one client over the standard streams; the exit code."""
    _log_to_stderr(log_level)
    # A stream of its own, since the interpreter waits at its end for the lock of one that a thread reads from.
    return _serve(os.fdopen(os.dup(0), "rb"), claim_stdout(), is_near=True)


def serve_tcp(host: str, port: int, log_level: str) -> int:
    """Serve the first client that connects; the exit code."""
    import socket

    _log_to_stderr(log_level)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        # For whoever starts it, at every level of logging: port 0 is any that is free.
        sys.stderr.write(f"llm-lint: listening on {host}:{listening.getsockname()[1]}\n")
        sys.stderr.flush()
        connection, _ = listening.accept()
    with connection, connection.makefile("rb") as incoming, connection.makefile("wb") as outgoing:
        return _serve(incoming, outgoing, is_near=False)


def _log_to_stderr(level: str) -> None:
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    LOGGER.setLevel(level.upper())
    # Below that level it logs the body of every message.
    logging.getLogger("pygls").setLevel(logging.ERROR)


def _serve(incoming: BinaryIO, outgoing: BinaryIO, *, is_near: bool) -> int:
    app = App(is_near=is_near)
    # What is loaded by now stays: the collector need not look at it. It stays off, since it would look through a tree
    # and its facts after each check, before the answer, and find nothing: 3 of 60 ms. `Session.collect_garbage` looks
    # when nobody waits.
    gc.freeze()
    return asyncio.run(app.run(incoming, outgoing))


class App:
    """Connects a session with pygls.

    Args:
        is_near: whether the client is a process of this machine.
    """

    def __init__(self, *, is_near: bool) -> None:
        self._is_near = is_near
        self.server = EditorServer("llm-lint", __version__, self._failed, _NOTEBOOKS)
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._missing: str | None = None
        try:
            rules = entries()
        except RegistryError as error:
            self._missing, rules = str(error), ()
        self.session = Session(_Client(self.server), rules)
        register = self.server.handle
        register(types.INITIALIZE, self._initialize)
        register(types.INITIALIZED, self._initialized)
        register(types.SHUTDOWN, self._shutdown)
        for method, handler in HANDLERS.items():
            register(method, partial(handler, self.session), options_of(method))
        for name in COMMANDS:
            self.server.command(name)(_listed)

    async def run(self, incoming: BinaryIO, outgoing: BinaryIO) -> int:
        """Handle messages until the client says `exit`, or is gone; the exit code."""
        self._loop = asyncio.get_running_loop()
        self.server.editor_protocol.connect(outgoing, lambda: self._queue.put_nowait(None))

        def read() -> None:
            with suppress(OSError, ValueError):
                for body in messages(incoming):
                    self._take_from_thread(body)
            self._take_from_thread(None)

        Thread(target=read, name="llm-lint reader", daemon=True).start()
        protocol = self.server.editor_protocol
        idle = Idle(self.session.collect_garbage)
        while protocol.exit_code is None and (body := await self._queue.get()) is not None:
            idle.heard()
            protocol.receive(body)
        self.session.end()
        return 1 if protocol.exit_code is None else protocol.exit_code

    def _take_from_thread(self, body: bytes | None) -> None:
        # The loop is closed when the session is over, and nobody waits for the threads.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, body)

    def _leave(self) -> None:
        """The client's process has ended; called from a thread."""
        self._take_from_thread(None)
        # The loop may hang, in a pipe that is full and that nobody will ever read.
        time.sleep(_GRACE)
        os._exit(1)

    def _initialize(self, params: types.InitializeParams) -> None:
        if self._is_near and params.process_id is not None:
            when_ended(params.process_id, self._leave)
        encoding = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
        capabilities = ClientCapabilities.of(params.capabilities, str(getattr(encoding, "value", encoding)))
        folders = list(params.workspace_folders or ())
        if not folders and params.root_uri:
            folders.append(types.WorkspaceFolder(params.root_uri, ""))
        roots = [path for folder in folders if (path := path_of(folder.uri)) is not None]
        if roots:
            # Relative paths then mean what they mean to the command line in the first folder.
            with suppress(OSError):
                os.chdir(roots[0])
        self.server.editor_protocol.trace = params.trace or types.TraceValue.Off
        self.session.begin(capabilities, folders, params.initialization_options)
        if capabilities.pulls_diagnostics:
            whole = self.session.options.workspace_diagnostics
            options = types.DiagnosticOptions(
                inter_file_dependencies=True, workspace_diagnostics=whole, identifier="llm-lint"
            )
            register = self.server.handle
            register(types.TEXT_DOCUMENT_DIAGNOSTIC, partial(diagnostic.handle, self.session), options)
            if whole:
                register(types.WORKSPACE_DIAGNOSTIC, partial(workspace_diagnostic.handle, self.session))

    def _initialized(self, params: types.InitializedParams) -> None:
        del params
        self.session.ready()
        if self._missing is not None:
            self.session.tell_once("rules", f"llm-lint: {self._missing}", types.MessageType.Error)

    def _shutdown(self, params: None) -> None:
        del params
        self.session.end()

    def _failed(self, error: Exception) -> None:
        LOGGER.error("%s: %s", type(error).__name__, error, exc_info=error)
        self.session.tell_once("failure", f"llm-lint: {type(error).__name__}: {error} (the log has more)")


def _listed(*_: Any) -> None:  # noqa: ANN401 (of any command)
    """Registered only so that the command is listed: `workspace/executeCommand` has a handler of its own."""


class _Client:
    """The other end, through pygls."""

    def __init__(self, server: EditorServer) -> None:
        self._server = server

    def publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        self._notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, types.PublishDiagnosticsParams(uri, list(diagnostics), version)
        )

    def show_message(self, message: str, kind: types.MessageType) -> None:
        self._notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(kind, message))

    def trace(self, message: str) -> None:
        if self._server.editor_protocol.trace != types.TraceValue.Off:
            self._notify(types.LOG_TRACE, types.LogTraceParams(message))

    def refresh_diagnostics(self) -> None:
        self._request(types.WORKSPACE_DIAGNOSTIC_REFRESH, None)

    def refresh_code_lenses(self) -> None:
        self._request(types.WORKSPACE_CODE_LENS_REFRESH, None)

    def refresh_inlay_hints(self) -> None:
        self._request(types.WORKSPACE_INLAY_HINT_REFRESH, None)

    def register_watchers(self, names: Sequence[str]) -> None:
        watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in names]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        registration = types.Registration("llm-lint files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        self._request(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams([registration]))

    def show_document(self, uri: str) -> None:
        self._request(types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri))

    def send_probe_result(self, message: Mapping[str, object]) -> None:
        self._notify(PROBE_RESULT, dict(message))

    async def create_progress(self, token: types.ProgressToken) -> None:
        params = types.WorkDoneProgressCreateParams(token)
        # A client that refuses shows no progress; what it is sent all the same harms nobody.
        with suppress(Exception):
            await self._server.editor_protocol.send_request_async(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)

    def send_partial_result(self, token: types.ProgressToken, value: object) -> None:
        self._notify(types.PROGRESS, types.ProgressParams(token, value))

    def report_progress(self, token: types.ProgressToken, value: object) -> None:
        self._notify(types.PROGRESS, types.ProgressParams(token, value))

    def _notify(self, method: str, params: object) -> None:
        self._server.editor_protocol.notify(method, params)

    def _request(self, method: str, params: object) -> None:
        """Ask for something whose answer changes nothing here; a client that refuses is no error of ours."""
        self._server.editor_protocol.send_request(method, params)
