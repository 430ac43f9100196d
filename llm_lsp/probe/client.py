"""Asks a worker, and keeps it: one for each interpreter and workspace, started when it is first needed.

Workers are programs of their own, read by a thread each; what they say arrives in the event loop of who asks.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any, cast

from llm_lsp.probe.protocol import Done, Event, Output, Partial, Progress, Ready, Request, read_event

__all__ = ["WORKER", "Probe", "Probes"]

WORKER = Path(__file__).with_name("worker") / "__main__.py"
"""The program that runs in the user's interpreter."""

_SHOWN_LOG = 500
"""Characters of what a worker complains of."""
_LONGEST_START = 120.0
"""Seconds that a worker may take to import torch."""


class _Run:
    """A request that was sent, seen from the event loop."""

    def __init__(self, number: int, request: Request, on_event: Callable[[Event], None]) -> None:
        self.number = number
        self.request = request
        self.on_event = on_event
        self.done: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.has_begun = False
        self.is_sent_again = False


class _Worker:
    """One process. `on_message` is called in a thread of its own; None says that the process has ended."""

    def __init__(
        self, command: Sequence[str | Path], folder: Path | None, on_message: Callable[[dict[str, Any] | None], None]
    ) -> None:
        self._on_message = on_message
        self._lock = Lock()
        # A file, since nobody may be there to read.
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the process has ended)
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                # The terminal's Ctrl-C is for us: we tell the worker.
                start_new_session=os.name != "nt",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError:
            self._log.close()
            raise
        self.is_ready = False
        self.is_retired = False
        """It has said that it leaves."""
        self.end = ""
        """How it has ended, for a person."""
        self._reader = Thread(target=self._read, name="llm-lint probe", daemon=True)

    def listen(self) -> None:
        """Read what it says, from now on."""
        self._reader.start()

    def send(self, message: Mapping[str, object]) -> None:
        """Send one line; that the process has ended is told by its end."""
        stream = self._process.stdin
        with self._lock, suppress(OSError, ValueError):
            if stream is not None:
                stream.write(json.dumps(message).encode() + b"\n")
                stream.flush()

    def leave(self) -> None:
        """The worker ends its runs, and itself."""
        stream = self._process.stdin
        with self._lock, suppress(OSError, ValueError):
            if stream is not None:
                stream.close()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()

    def join(self, seconds: float) -> None:
        """Wait for its end."""
        self._reader.join(seconds)

    def _read(self) -> None:
        stream = self._process.stdout
        if stream is not None:
            with stream:
                for line in stream:
                    # What programs print that run at the start of every interpreter comes before the worker's words.
                    with suppress(ValueError):
                        message: object = json.loads(line)
                        if isinstance(message, dict):
                            self._on_message(cast("dict[str, Any]", message))
        self._process.wait()
        self.leave()
        with self._log:
            self._log.seek(0)
            last = self._log.read().decode("utf-8", "replace").strip()[-_SHOWN_LOG:]
        self.end = f"the worker of the probe ended with {self._process.returncode}" + (f": {last}" if last else "")
        self._on_message(None)


class Probe:
    """Asks in one interpreter.

    Its methods are called in the event loop.

    Args:
        python: the interpreter.
        folder: the worker's working directory.
        options: more arguments of the worker.
        program: the worker.
    """

    def __init__(
        self, python: Path, folder: Path | None = None, *, options: Sequence[str] = (), program: Path = WORKER
    ) -> None:
        self._command: list[str | Path] = [python, "-u", program, *options]
        self._folder = folder
        self._worker: _Worker | None = None
        self._runs: dict[int, _Run] = {}
        self._count = 0

    async def run(self, request: Request, on_event: Callable[[Event], None] = lambda _: None) -> Done:
        """Ask, and wait for the end; a task that is cancelled meanwhile ends the run.

        Args:
            request: the question.
            on_event: told of everything that comes before the end.
        """
        self._count += 1
        run = _Run(self._count, request, on_event)
        self._runs[run.number] = run
        on_event(Progress("start", 0, 1))
        try:
            self._send(run)
            return await run.done
        finally:
            del self._runs[run.number]
            if not run.done.done() or run.done.cancelled():
                self._tell(run)

    def _tell(self, run: _Run) -> None:
        if self._worker is not None:
            self._worker.send({"id": run.number, "op": "cancel"})

    def _send(self, run: _Run) -> None:
        if self._worker is None or self._worker.is_retired:
            try:
                self._worker = self._started()
            except OSError as error:
                run.done.set_result(
                    Done.failed("crash", f"{self._command[0]} can't be started: {error.strerror or error}")
                )
                return
        self._worker.send(run.request.as_message(run.number))

    def _started(self) -> _Worker:
        loop = asyncio.get_running_loop()

        def hear(message: dict[str, Any] | None) -> None:
            # The loop may be closed by now, and nobody listens.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._take, worker, message)

        def end_what_hangs() -> None:
            if not worker.is_ready:
                worker.kill()

        worker = _Worker(self._command, self._folder, hear)
        worker.listen()
        loop.call_later(_LONGEST_START, end_what_hangs)
        return worker

    def _take(self, worker: _Worker, message: dict[str, Any] | None) -> None:
        if message is None:
            self._ended(worker)
            return
        if message.get("event") == "retired":
            worker.is_retired = True
            return
        worker.is_ready = True
        event = read_event(message)
        runs = list(self._runs.values())
        if (number := message.get("id")) is not None:
            runs = [run for run in runs if run.number == number]
        for run in runs:
            if isinstance(event, Done):
                if not run.done.done():
                    run.done.set_result(event)
            elif isinstance(event, Ready | Progress | Output | Partial):
                run.has_begun = run.has_begun or not isinstance(event, Ready)
                run.on_event(event)

    def _ended(self, worker: _Worker) -> None:
        """What a worker has left undone goes to the next one, where it said that it leaves; once, for all cases."""
        if self._worker is worker:
            self._worker = None
        for run in list(self._runs.values()):
            if run.done.done():
                continue
            if worker.is_retired and not run.has_begun and not run.is_sent_again:
                run.is_sent_again = True
                self._send(run)
            else:
                run.done.set_result(Done.failed("crash", worker.end))

    def close(self, patience: float = 0.0) -> None:
        """End the worker with its runs.

        Args:
            patience: seconds to wait for it.
        """
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.leave()
            worker.join(patience)


class Probes:
    """The probes of a session, by interpreter and folder."""

    def __init__(self, program: Path = WORKER) -> None:
        self._program = program
        self._probes: dict[tuple[Path, Path], Probe] = {}

    def of(self, python: Path, folder: Path) -> Probe:
        """The one that asks in an interpreter."""
        key = python, folder
        if key not in self._probes:
            self._probes[key] = Probe(python, folder, program=self._program)
        return self._probes[key]

    def close(self) -> None:
        """End all workers."""
        for probe in self._probes.values():
            probe.close()
        self._probes.clear()
