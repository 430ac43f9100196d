"""The server as a process: how it starts, what it answers when, and how it ends."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.programs import FAULTY
from tests.server.wire import PUSHED, Wire

Connect = Callable[..., Wire]


def test_it_ends_with_0_after_shutdown_and_exit(connect: Connect) -> None:
    wire = connect()
    wire.start()
    assert wire.shut_down() == 0


def test_it_ends_with_1_after_exit_alone(connect: Connect) -> None:
    wire = connect()
    wire.start()
    wire.notify("exit", None)
    assert wire.wait_for_end() == 1


def test_exit_before_initialize_ends_it(connect: Connect) -> None:
    wire = connect()
    wire.notify("exit", None)
    assert wire.wait_for_end() == 1


def test_stdio_may_be_named(connect: Connect) -> None:
    wire = connect("--stdio")
    wire.start()
    assert wire.shut_down() == 0


def test_a_client_that_vanishes_takes_it_along(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start(PUSHED)
    path = workspace / "long.py"
    wire.open(path.as_uri(), FAULTY * 2_000)
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert wire.wait_for_end() == 1


@pytest.fixture
def client() -> Iterator[subprocess.Popen[bytes]]:
    """A process whose end is the client's, while the pipes to the server stay open: the test holds them."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(command) as process:
        yield process
        process.kill()


def test_a_client_that_dies_takes_it_along_though_the_pipe_stays_open(
    connect: Connect, client: subprocess.Popen[bytes]
) -> None:
    wire = connect()
    wire.start(process=client.pid)
    client.kill()
    assert wire.wait_for_end() == 1


def test_it_leaves_a_client_that_died_without_reading_what_it_was_told(client: subprocess.Popen[bytes]) -> None:
    command = [sys.executable, "-m", "llm_lsp", "server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        params: dict[str, object] = {"capabilities": {}, "processId": client.pid}
        # The answers are more than a pipe holds.
        for number, method in enumerate(["initialize", *["llm-lint/nothing"] * 3_000]):
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
            server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        server.stdin.flush()
        assert server.stdout is not None
        assert server.stdout.read(1) == b"C"  # the process is watched by now
        client.kill()
        assert server.wait(60) == 1


def test_a_number_that_is_no_process_here_ends_nothing(connect: Connect, client: subprocess.Popen[bytes]) -> None:
    client.kill()
    client.wait()
    for process in (client.pid, -1, 0, 2**31 - 1):
        wire = connect()
        wire.start(process=process)
        assert wire.shut_down() == 0


def test_shutdown_in_the_middle_of_work_is_answered(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start()
    uri = (workspace / "long.py").as_uri()
    wire.open(uri, FAULTY * 2_000)
    pull = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert wire.shut_down() == 0
    assert "error" in wire.answer(pull)


def test_nothing_but_initialize_is_answered_before_it(connect: Connect) -> None:
    wire = connect()
    assert wire.answer(wire.ask("textDocument/hover", {}))["error"]["code"] == -32002
    assert "capabilities" in wire.answer(wire.ask("initialize", {"capabilities": {}}))["result"]


def test_it_is_initialized_once(connect: Connect) -> None:
    wire = connect()
    wire.start()
    assert wire.answer(wire.ask("initialize", {"capabilities": {}}))["error"]["code"] == -32600


def test_no_request_is_answered_after_shutdown(connect: Connect) -> None:
    wire = connect()
    wire.start()
    wire.request("shutdown")
    assert wire.answer(wire.ask("textDocument/hover", {}))["error"]["code"] == -32600
    wire.notify("exit", None)
    assert wire.wait_for_end() == 0


def test_an_unknown_request_is_refused_and_an_unknown_notification_ignored(connect: Connect) -> None:
    wire = connect()
    wire.start()
    wire.notify("llm-lint/nothing", {})
    assert wire.answer(wire.ask("llm-lint/nothing", {}))["error"]["code"] == -32601


def test_parameters_that_are_none_are_refused(connect: Connect) -> None:
    wire = connect()
    wire.start()
    response = wire.answer(wire.ask("textDocument/hover", {"textDocument": 7}))
    assert response["error"]["code"] == -32602
    assert wire.shut_down() == 0


def test_what_is_not_json_is_refused_and_the_session_goes_on(connect: Connect) -> None:
    wire = connect()
    wire.start()
    wire.send_bytes(b"Content-Length: 9\r\n\r\n{'nope':1")
    assert wire.answer(None)["error"]["code"] == -32700
    wire.send_bytes(b"Content-Length: 2\r\n\r\n[]")
    assert wire.answer(None)["error"]["code"] == -32600
    assert wire.shut_down() == 0


def test_a_wrong_length_costs_no_more_than_its_neighbour(connect: Connect) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "llm-lint/nothing", "params": {}}).encode()
    for length in (len(body) - 5, len(body) + 5, 0, 10**17):
        wire = connect()
        wire.start()
        wire.send_bytes(b"Content-Length: %d\r\n\r\n" % length + body)
        wire.notify("llm-lint/nothing", {})
        assert wire.shut_down() == 0


def test_headers_are_read_however_they_are_written(connect: Connect) -> None:
    wire = connect()
    wire.start()
    body = json.dumps({"jsonrpc": "2.0", "id": "a", "method": "shutdown"}).encode()
    wire.send_bytes(
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:%d\n\n" % len(body) + body
    )
    assert wire.answer("a")["result"] is None


PRINTING_RULE = '''
import os
from collections.abc import Iterator
from llm_lsp.rule import Facts, Report, Rule, Severity


class Talks(Rule):
    """It prints."""

    code = "TST001"
    severity = Severity.WARNING
    triggers = ("model",)
    bad = ()
    good = ()

    def check(self, facts: Facts) -> Iterator[Report]:
        print("printed by a rule", flush=True)
        os.write(1, b"written by a library")
        return iter(())
'''


def test_whoever_prints_does_not_end_the_session(workspace: Path) -> None:
    pack = workspace.parent / "pack"
    (pack / "talking_pack").mkdir(parents=True)
    (pack / "talking_pack" / "__init__.py").touch()
    (pack / "talking_pack" / "talks.py").write_text(PRINTING_RULE, encoding="utf-8")
    metadata = pack / "talking_pack-1.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[llm_lsp.rules]\ntalks = talking_pack\n", encoding="utf-8")
    wire = Wire(workspace, environment={**os.environ, "PYTHONPATH": str(pack)})
    try:
        wire.start()
        uri = (workspace / "a.py").as_uri()
        wire.open(uri, FAULTY)
        assert [item["code"] for item in wire.pull(uri)["items"]] == ["LLM101"]
        assert wire.shut_down() == 0
    finally:
        wire.close()
    assert "printed by a rule" in "".join(wire.log)


def test_one_client_is_served_over_tcp(workspace: Path) -> None:
    command = [sys.executable, "-m", "llm_lsp", "server", "--tcp", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=workspace, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(b":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            body = json.dumps(
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
            ).encode()
            connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert connection.recv(20).startswith(b"Content-Length: ")
        assert process.wait(60) == 1


def test_an_address_that_is_none_is_named(workspace: Path) -> None:
    command = [sys.executable, "-m", "llm_lsp", "server", "--tcp", "2087"]
    done = subprocess.run(command, cwd=workspace, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "HOST:PORT" in done.stderr
    assert "`2087`" in done.stderr


def test_a_cancelled_request_is_answered_as_such(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start()
    uri = (workspace / "long.py").as_uri()
    wire.open(uri, FAULTY * 500)
    pull = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    wire.notify("$/cancelRequest", {"id": pull})
    assert wire.answer(pull)["error"]["code"] == -32800
    assert wire.shut_down() == 0


def test_the_trace_can_be_followed(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start()
    wire.notify("$/setTrace", {"value": "messages"})
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY)
    wire.pull(uri)
    assert "a.py" in wire.wait_for("$/logTrace")["message"]


def test_an_editor_that_starts_waits_for_neither_facts_nor_fixes() -> None:
    program = "import sys, llm_lsp.server.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("llm_lsp.")}
    assert "llm_lsp.server.session" in loaded
    assert not {name for name in loaded if name.startswith(("llm_lsp.facts", "llm_lsp.fixes", "llm_lsp.rule"))}
