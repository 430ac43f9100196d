"""How long an editor waits for the language server, over stdio, as an editor talks to it: `python -m benchmarks.server`.

Times are medians, set against `ast.parse` of the same text in the same run. The delay after a keystroke that a client
or the server waits out on purpose is not in them: diagnostics are pulled right after the change.
"""

from __future__ import annotations

import ast
import gc
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import project

MOST_MILLISECONDS = {1_000: 40, 5_000: 200}
MOST_TIMES_PARSE = 5
"""The same on any machine: where the milliseconds were promised, `ast.parse` takes 8 for 1,000 lines."""
MOST_FOR_ACTIONS = 5
MOST_FOR_HOVERS = 10
MOST_TO_INITIALIZE = 0.7
MOST_TO_END = 1
MOST_MEGABYTES = 120
MOST_GROWTH = 4
EDITS = 50_000

CAPABILITIES = {
    "textDocument": {
        "diagnostic": {},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
    }
}


class Server:
    """A session; requests wait for their answers."""

    def __init__(self, folder: Path, capabilities: object = CAPABILITIES) -> None:
        command = [sys.executable, "-m", "llm_lsp", "server"]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = itertools.count()
        self.request("initialize", {"capabilities": capabilities, "rootUri": folder.as_uri()})
        self.cpu_until_initialized = self._cpu()
        self.notify("initialized", {})

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> int:
        """Send a request without waiting; its id."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        return number

    def request(self, method: str, params: object) -> Any:  # noqa: ANN401 (JSON)
        number = self.ask(method, params)
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]

    def open(self, path: Path) -> str:
        item = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text(encoding="utf-8")}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return path.as_uri()

    def insert(self, uri: str, version: int, line: int, text: str) -> None:
        here = {"line": line, "character": 0}
        change = {"range": {"start": here, "end": here}, "text": text}
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def pull(self, uri: str) -> list[Any]:
        report = self.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        items: list[Any] = report.get("items", [])
        return items

    def megabytes(self) -> float:
        """What is resident now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def end(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait()

    def close(self) -> None:
        """Vanish without a word."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()

    def _cpu(self) -> float:
        """The CPU seconds that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self.process.stdin is not None:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        stream = self.process.stdout
        if stream is None or not (header := stream.readline()):
            sys.exit("the server has ended")
        while stream.readline().strip():
            pass
        message: dict[str, Any] = json.loads(stream.read(int(header.partition(b":")[2])))
        return message


def milliseconds(work: Callable[[], object], runs: int) -> float:
    """The median of some runs."""
    return median(timed(work) for _ in range(runs))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    begun = time.perf_counter()
    work()
    return 1_000 * (time.perf_counter() - begun)


def keystrokes(folder: Path, lines: int) -> None:
    """From a change to the diagnostics, in the middle of a file."""
    path = project.write_project(folder / str(lines), files=1, lines=lines)
    server = Server(path.parent)
    uri = server.open(path)
    server.pull(uri)
    versions = itertools.count(2)

    def type_and_pull() -> None:
        version = next(versions)
        server.insert(uri, version, lines // 2, "#" if version % 2 else "\n")
        server.pull(uri)

    text = path.read_text(encoding="utf-8")
    gc.disable()  # as in the server, where it would double the time
    # By turns, since a noisy machine is not as fast in one second as in the next.
    pairs = [(timed(lambda: ast.parse(text)), timed(type_and_pull)) for _ in range(40)]
    gc.enable()
    parse, taken = (median(times) for times in zip(*pairs, strict=True))
    server.end()
    print(
        f"  a keystroke in {lines:,} lines        {taken:8.1f} ms   {verdict(taken, MOST_MILLISECONDS[lines])}"
        f"   {taken / parse:.1f} times ast.parse   {verdict(taken / parse, MOST_TIMES_PARSE)}"
    )


FAULT = """\
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-uncased")
print(model(**tokenizer("text", return_tensors="pt")))
"""


def questions(folder: Path) -> None:
    """Code actions and hovers in a file of 1,000 lines."""
    path = project.write_project(folder / "questions", files=1, lines=1_000)
    path.write_text(FAULT + path.read_text(encoding="utf-8"), encoding="utf-8")
    server = Server(path.parent)
    uri = server.open(path)
    found = server.pull(uri)
    where = found[0]["range"]
    context = {"diagnostics": found[:1]}
    actions = {"textDocument": {"uri": uri}, "range": where, "context": context}
    hover = {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 48}}
    for name, method, params, most in (
        ("code actions", "textDocument/codeAction", actions, MOST_FOR_ACTIONS),
        ("a hover over a checkpoint", "textDocument/hover", hover, MOST_FOR_HOVERS),
    ):
        if not server.request(method, params):
            sys.exit(f"{method} answered nothing")
        taken = milliseconds(partial(server.request, method, params), 50)
        print(f"  {name:30} {taken:8.1f} ms   {verdict(taken, most)}")
    server.end()


def start(folder: Path) -> None:
    """From the start of the process to the answer to `initialize`."""
    times: list[float] = []
    for _ in range(5):
        server = Server(folder)
        times.append(server.cpu_until_initialized)
        server.end()
    spent = median(times)
    # Two thirds of it are the classes of the protocol, which are made anew in each process.
    protocol = median(cpu_seconds("import lsprotocol.types") for _ in range(5))
    print(
        f"  start and initialize           {spent:8.2f} CPU seconds   {spent / protocol:.1f} times the import of lsprotocol"
        f"   {verdict(spent, MOST_TO_INITIALIZE)}"
    )


def cpu_seconds(program: str) -> float:
    """What a Python process needs for a program, its start included."""
    code = f"import gc, time; gc.disable(); {program}; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


def vanish(folder: Path) -> None:
    """From the end of a client, in the middle of a check, to the end of the server."""
    path = project.write_project(folder / "vanish", files=1, lines=5_000)
    times: list[float] = []
    for _ in range(5):
        server = Server(path.parent)
        uri = server.open(path)
        server.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        time.sleep(0.3)
        begun = time.perf_counter()
        server.close()
        times.append(time.perf_counter() - begun)
    slowest = max(times)
    print(f"  ends after its client          {slowest:8.2f} s, the slowest of 5   {verdict(slowest, MOST_TO_END)}")


def memory(folder: Path) -> None:
    """Ten open files of 1,000 lines in a workspace of 500, and what 50,000 edits leave behind."""
    path = project.write_project(folder / "memory", files=500, lines=1_000)
    text = path.read_text(encoding="utf-8")
    server = Server(path.parent)
    uris: list[str] = []
    for number in range(10):
        each = path.with_name(f"large_{number}.py")
        each.write_text(text, encoding="utf-8")
        uris.append(server.open(each))
        server.pull(uris[-1])
    before = server.megabytes()
    print(f"  ten files open                 {before:8.1f} MB   {verdict(before, MOST_MEGABYTES)}")
    versions = itertools.count(2)
    for edit in range(EDITS):
        server.insert(uris[0], next(versions), 5, "#" if edit % 2 else "\n")
        if edit % 2_000 == 1_999:
            # The text again, so that it stays as long as it was.
            document = {"uri": uris[0], "version": next(versions)}
            params = {"textDocument": document, "contentChanges": [{"text": text}]}
            server.notify("textDocument/didChange", params)
            server.pull(uris[0])
        if edit == 5_999:
            before = server.megabytes()
    growth = server.megabytes() - before
    server.end()
    print(f"  growth, 6,000 to {EDITS:,} edits  {growth:8.1f} MB   {verdict(growth, MOST_GROWTH)}")


def verdict(value: float, most: float) -> str:
    return f"at most {most:g} ({'kept' if value <= most else 'BROKEN'})"


if __name__ == "__main__":
    if not Path("/proc/self/status").exists():
        sys.exit("this benchmark reads /proc, which this system does not have")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        print("the language server, over stdio")
        start(root)
        for size in MOST_MILLISECONDS:
            keystrokes(root, size)
        questions(root)
        vanish(root)
        memory(root)
