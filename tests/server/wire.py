"""A client for tests: the real server as a process of its own, spoken to message by message."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

__all__ = ["Wire", "position", "range_"]

PATIENCE = 60
"""Seconds; so long only a server that hangs keeps a test waiting."""

VSCODE: dict[str, Any] = json.loads(Path(__file__).with_name("vscode_initialize.json").read_text(encoding="utf-8"))
"""What VS Code 1.139 with our extension (vscode-languageclient 10.1) sent as its `initialize`, written down by a program
that stood between the two; without the process and the paths of its machine."""
PULLS: dict[str, Any] = VSCODE["capabilities"]
PUSHED: dict[str, Any] = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "dataSupport": True, "versionSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}}},
        "hover": {"contentFormat": ["markdown"]},
    },
    "notebookDocument": {"synchronization": {}},
}


def position(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def range_(start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    return {"start": position(*start), "end": position(*end)}


class Wire:
    """A session with `llm-lint server`, which runs in `folder`."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str | Path] = (sys.executable, "-m", "llm_lsp"),
    ) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*program, "server", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.notifications: deque[dict[str, Any]] = deque()
        self.requests: deque[dict[str, Any]] = deque()
        """What the server asked for; each was answered with null."""
        self.log: list[str] = []
        self._ids = itertools.count(1)
        self._incoming: Queue[dict[str, Any] | None] = Queue()
        self._responses: dict[Any, dict[str, Any]] = {}
        Thread(target=self._read, daemon=True).start()
        Thread(target=self._read_log, daemon=True).start()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    # ------------------------------------------------------------ messages

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: object = None) -> int:
        """Send a request without waiting; the id to wait for."""
        request = next(self._ids)
        self.send({"id": request, "method": method, "params": params})
        return request

    def answer(self, request: object) -> dict[str, Any]:
        """The whole response to a request."""
        while request not in self._responses:
            self._take()
        return self._responses.pop(request)

    def request(self, method: str, params: object = None) -> Any:  # noqa: ANN401 (JSON)
        """The result of a request; an error fails the test."""
        response = self.answer(self.ask(method, params))
        assert "error" not in response, response
        return response["result"]

    def wait_for(self, method: str, wanted: Callable[[Any], bool] | None = None) -> Any:  # noqa: ANN401 (JSON)
        """The parameters of the next notification of a kind; those before it are dropped."""
        while True:
            while self.notifications:
                message = self.notifications.popleft()
                if message["method"] == method and (wanted is None or wanted(message["params"])):
                    return message["params"]
            self._take()

    def wait_for_request(self, method: str) -> Any:  # noqa: ANN401 (JSON)
        while not any(message["method"] == method for message in self.requests):
            self._take()
        found = next(message for message in self.requests if message["method"] == method)
        self.requests.remove(found)
        return found.get("params")

    def wait_for_end(self) -> int:
        return self.process.wait(PATIENCE)

    def _take(self) -> None:
        message = self._incoming.get(timeout=PATIENCE)
        assert message is not None, "the server has ended: " + "".join(self.log)
        if "method" not in message:
            self._responses[message["id"]] = message
        elif "id" in message:
            self.requests.append(message)
            self.send({"id": message["id"], "result": None})
        else:
            self.notifications.append(message)

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        try:
            while header := stream.readline():
                length = int(header.partition(b":")[2])
                while stream.readline().strip():
                    pass
                self._incoming.put(json.loads(stream.read(length)))
        except ValueError:
            pass
        self._incoming.put(None)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        try:
            for line in self.process.stderr:
                self.log.append(line.decode("utf-8", "replace"))
        except ValueError:
            return

    # ------------------------------------------------------------ what editors do

    def start(
        self,
        capabilities: Mapping[str, Any] = PULLS,
        options: object = None,
        folders: Sequence[Path] | None = None,
        process: int | None = None,
    ) -> dict[str, Any]:
        """Initialize; the server's capabilities."""
        paths = [self.folder] if folders is None else folders
        result: dict[str, Any] = self.request(
            "initialize",
            {
                "processId": process,
                "rootUri": paths[0].as_uri() if paths else None,
                "workspaceFolders": [{"uri": path.as_uri(), "name": path.name} for path in paths],
                "capabilities": capabilities,
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        capabilities_of_server: dict[str, Any] = result["capabilities"]
        return capabilities_of_server

    def open(self, uri: str, text: str, *, version: int = 1, language: str = "python") -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Mapping[str, Any]) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def pull(self, uri: str, previous: str | None = None) -> dict[str, Any]:
        params = {"textDocument": {"uri": uri}, "previousResultId": previous}
        report: dict[str, Any] = self.request("textDocument/diagnostic", params)
        return report

    def pushed(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """The next diagnostics that are pushed for a text, or for a version of it."""
        params = self.wait_for(
            "textDocument/publishDiagnostics",
            lambda params: params["uri"] == uri and (version is None or params.get("version") == version),
        )
        found: list[dict[str, Any]] = params["diagnostics"]
        return found

    def actions(
        self, uri: str, diagnostics: Sequence[Mapping[str, Any]], where: Mapping[str, Any], only: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        context: dict[str, Any] = {"diagnostics": list(diagnostics)}
        if only:
            context["only"] = list(only)
        params = {"textDocument": {"uri": uri}, "range": where, "context": context}
        found: list[dict[str, Any]] = self.request("textDocument/codeAction", params)
        return found

    def shut_down(self) -> int:
        self.request("shutdown")
        self.notify("exit", None)
        return self.wait_for_end()
