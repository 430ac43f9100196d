"""A worker as a process, spoken to line by line, with a stand-in for what it is asked to do.

The stand-in only imports the program, which may state its own outcome: what a worker owes its client whatever a program does is the same for every question.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import llm_lsp

__all__ = ["WORKER", "WorkerProcess", "stand_in", "wait_for_file", "wait_until_gone"]

WORKER = Path(llm_lsp.__file__).parent / "probe" / "worker"
PATIENCE = 60
"""Seconds; only a worker that hangs takes so long."""

STAND_IN = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location

import torch


def warm_up():
    torch.empty(2, 3, device="meta").sum()


def check_shapes(request, emit):
    for done in range(1000):
        emit({"event": "progress", "stage": "import", "done": done, "total": 1000})
    spec = spec_from_file_location("program", request["file"])
    module = module_from_spec(spec)
    sys.modules["program"] = module
    spec.loader.exec_module(module)
    emit({"event": "result", "result": {"target": request.get("target")}})
    if hasattr(module, "OUTCOME"):
        return module.OUTCOME
    return {"status": "ok", "result": {"target": request.get("target"), "value": getattr(module, "value", None)}}
"""


def stand_in(folder: Path) -> Path:
    """The worker's own files, with another package `shape`."""
    copy = folder / "worker"
    shutil.copytree(WORKER, copy, ignore=shutil.ignore_patterns("shape", "__pycache__"))
    (copy / "shape").mkdir()
    (copy / "shape" / "__init__.py").write_text(STAND_IN, encoding="utf-8")
    return copy


class WorkerProcess:
    """The client's side of the pipes."""

    def __init__(
        self,
        worker: Path,
        *arguments: str,
        python: str | Path = sys.executable,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [python, "-u", worker / "__main__.py", *arguments],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.events: list[dict[str, Any]] = []
        """All that have arrived and were looked at."""
        self._ids = itertools.count(1)
        self._incoming: Queue[dict[str, Any] | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Leave, as a client that ends does."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(OSError):
            self.process.stdin.close()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.process.stdout.close()

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, file: Path, *, wall: float = 60, memory: float = 4096, **more: Any) -> int:  # noqa: ANN401 (JSON)
        """Send a request; its id."""
        request = next(self._ids)
        limits = {"wall_s": wall, "mem_mb": memory}
        self.send({"id": request, "op": "shape", "file": str(file), "target": "Net", "limits": limits, **more})
        return request

    def cancel(self, request: int) -> None:
        self.send({"id": request, "op": "cancel"})

    def next_event(self) -> dict[str, Any] | None:
        """None where the worker has ended."""
        event = self._incoming.get(timeout=PATIENCE)
        if event is not None:
            self.events.append(event)
        return event

    def wait_for(self, kind: str, request: int | None = None) -> dict[str, Any]:
        """The first event of a kind, of a request, that has not been waited for yet."""
        while (event := self.next_event()) is not None:
            if event["event"] == kind and event.get("id") == request:
                return event
        raise AssertionError(f"the worker has ended before {kind}: {self.events}")

    def done(self, request: int) -> dict[str, Any]:
        for event in self.events:
            if event["event"] == "done" and event.get("id") == request:
                return event
        return self.wait_for("done", request)

    def run(self, file: Path, *, wall: float = 60, memory: float = 4096, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        """The last event of a run."""
        return self.done(self.ask(file, wall=wall, memory=memory, **more))

    def output(self, request: int) -> str:
        """What a run has printed."""
        return "".join(str(event["text"]) for event in self.of(request, "output"))

    def of(self, request: int, kind: str) -> Sequence[dict[str, Any]]:
        return [event for event in self.events if event.get("id") == request and event["event"] == kind]

    def is_silent(self) -> bool:
        """Whether nothing more has arrived."""
        try:
            event = self._incoming.get_nowait()
        except Empty:
            return True
        assert event is not None
        self.events.append(event)
        return False

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._incoming.put(json.loads(line))
        self._incoming.put(None)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(process: int) -> None:
    """The system takes a process away some moments after it was killed."""
    until = time.monotonic() + 60
    while is_running(process):
        assert time.monotonic() < until, f"process {process} lives on"
        time.sleep(0.01)


def wait_for_file(path: Path) -> str:
    until = time.monotonic() + 60
    while not path.exists() or not path.read_text(encoding="utf-8"):
        assert time.monotonic() < until, f"{path} is never written"
        time.sleep(0.01)
    return path.read_text(encoding="utf-8")
