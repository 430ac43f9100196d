"""What pygls gets wrong, and that it is set right here; the first part shows that pygls still needs it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from llm_lsp.server.workarounds import EditorServer, messages

# Python 3.14 warns of what pygls does with every handler.
pytestmark = pytest.mark.filterwarnings("ignore:.*iscoroutinefunction:DeprecationWarning")

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])]
)


class Line:
    """A server of ours with nothing behind it, and what it writes."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.written = io.BytesIO()
        self.left = 0
        self.server = EditorServer("test", "1", self.errors.append, NOTEBOOKS)
        self.protocol = self.server.editor_protocol
        self.protocol.connect(self.written, self.leave)

    def leave(self) -> None:
        self.left += 1

    def receive(self, method: str, params: object = None, request: object = None) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        if request is not None:
            message["id"] = request
        self.protocol.receive(json.dumps(message).encode())

    def answers(self) -> Iterator[dict[str, Any]]:
        self.written.seek(0)
        return (json.loads(body) for body in messages(self.written))


@pytest.fixture
def line() -> Line:
    line = Line()
    line.receive("initialize", {"capabilities": {}}, 0)
    return line


def in_loop(work: Callable[[], Any]) -> None:
    async def run() -> None:
        work()
        # Handlers that are coroutines begin with the next turns of the loop.
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(run())


def futures_after(server: LanguageServer, count: int) -> int:
    """How many futures a server holds after so many notifications, whose handler is a coroutine."""

    async def handler(params: object) -> None:
        del params

    server.feature("llm-lint/test")(handler)

    protocol: Any = server.protocol

    def work() -> None:
        for _ in range(count):
            protocol._handle_notification("llm-lint/test", None)

    in_loop(work)
    return len(protocol._request_futures)


def test_notifications_leave_nothing_behind(line: Line) -> None:
    assert futures_after(line.server, 50) == 0
    assert futures_after(LanguageServer("theirs", "1"), 50) == 50


def test_a_cancelled_command_stops(line: Line) -> None:
    seen: list[str] = []

    async def command(params: types.ExecuteCommandParams) -> None:
        seen.append(params.command)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    line.server.handle(types.WORKSPACE_EXECUTE_COMMAND, command)

    async def run() -> None:
        line.receive("workspace/executeCommand", {"command": "x"}, 1)
        await asyncio.sleep(0)
        line.receive("$/cancelRequest", {"id": 1})
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(run())
    assert seen == ["x", "cancelled"]
    assert [each["error"]["code"] for each in line.answers() if each["id"] == 1] == [-32800]


def test_shutdown_is_answered_while_a_command_is_in_flight(line: Line) -> None:
    async def command(params: object) -> None:
        await asyncio.Event().wait()

    line.server.handle(types.WORKSPACE_EXECUTE_COMMAND, command)

    async def run() -> None:
        for request in (1, 2, 3):
            line.receive("workspace/executeCommand", {"command": "x"}, request)
        await asyncio.sleep(0)
        line.receive("shutdown", None, 4)
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(run())
    answers = {each["id"]: each for each in line.answers()}
    assert answers[4]["result"] is None
    assert {answers[request]["error"]["code"] for request in (1, 2, 3)} == {-32800}


@pytest.mark.parametrize(("with_shutdown", "code"), [(True, 0), (False, 1)])
def test_exit_has_a_code(with_shutdown: bool, code: int, line: Line) -> None:
    if with_shutdown:
        line.receive("shutdown", None, 1)
    assert line.protocol.exit_code is None
    line.receive("exit")
    assert line.protocol.exit_code == code


def test_an_object_with_a_key_jsonrpc_is_no_message(line: Line) -> None:
    seen: list[object] = []

    def command(params: types.ExecuteCommandParams) -> None:
        seen.extend(params.arguments or ())

    line.server.handle(types.WORKSPACE_EXECUTE_COMMAND, command)
    line.receive("workspace/executeCommand", {"command": "x", "arguments": [{"jsonrpc": "2.0"}]}, 1)
    assert seen == [{"jsonrpc": "2.0"}]


def test_an_error_tells_the_client_no_traceback(line: Line) -> None:
    def handler(params: object) -> None:
        raise ZeroDivisionError("inside")

    line.server.handle(types.TEXT_DOCUMENT_HOVER, handler)
    where = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}}
    line.receive("textDocument/hover", where, 1)
    (error,) = [each["error"] for each in line.answers() if each["id"] == 1]
    assert error["code"] == -32603
    assert "Traceback" not in json.dumps(error)
    assert len(line.errors) == 1


def test_a_notification_that_fails_shows_no_popup(line: Line) -> None:
    def handler(params: object) -> None:
        raise ZeroDivisionError("inside")

    line.server.handle("llm-lint/test", handler)
    line.receive("llm-lint/test")
    assert len(line.errors) == 1
    assert not [each for each in line.answers() if "method" in each]


def test_a_client_that_has_left_is_noticed_and_is_no_error(line: Line) -> None:
    line.written.close()
    line.receive("llm-lint/nothing", None, 1)
    assert line.left == 1
    assert not [error for error in line.errors if isinstance(error, ValueError | OSError)]


def test_pygls_still_ends_lines_at_form_feeds() -> None:
    """The reason for texts of our own; where this fails, a look at `server/documents.py` is due."""
    assert len(TextDocument("file:///a.py", source="a\fb\n").lines) == 2


@pytest.mark.parametrize(
    ("stream", "bodies"),
    [
        (b"", []),
        (b"Content-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n1", [b"{}", b"1"]),
        (b"content-length:2\n\n{}", [b"{}"]),
        (b"Content-Length: 2\r\nContent-Type: x\r\n\r\n{}", [b"{}"]),
        (b"Content-Type: x\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"nonsense\r\n\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n{}", [b"{", b"{}"]),
        (b"Content-Length: x\r\n\r\n{}Content-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"Content-Length: 99999999999\r\n\r\n{}Content-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"Content-Length: 9\r\n\r\n{}", []),
        ('Content-Length: 6\r\n\r\n"\u00e9\u00e9"'.encode(), ['"\u00e9\u00e9"'.encode()]),
    ],
)
def test_messages_are_found_in_a_stream(stream: bytes, bodies: list[bytes]) -> None:
    assert list(messages(io.BytesIO(stream))) == bodies
