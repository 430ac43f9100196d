"""Where the processes of runs come from: forks of this one, or programs that wait with torch imported.

A fork takes milliseconds, but is safe only on Linux, and only from a process without threads that has computed nothing
(the libraries of macOS break in forks; Windows has none). Elsewhere a *spare* stands by: a process that has imported torch
already, made while the last run is being looked at.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple, NoReturn, Protocol

from .child import carry_out
from .environment import with_gpus
from .processes import die_with_parent
from .streams import capture_output

__all__ = ["Child", "Launcher", "forks", "spares"]


class Child(NamedTuple):
    """A process that carries out a run, and leads a process group where there are some."""

    process: int
    channel: int
    """Descriptors: its events arrive here,"""
    output: int
    """and here what it prints."""
    exit_code: Callable[[], int | None]
    """None while it runs; negative where a signal ended it."""
    is_gone: Callable[[], bool]
    """Whether nothing of it is left; only from then on its number may be that of another process."""


class Launcher(Protocol):
    """Starts runs."""

    def start(self, request: Mapping[str, object]) -> Child:
        """A process that is carrying out this request."""
        ...

    def prepare(self) -> None:
        """Nothing is to be done now: make ready for what comes."""
        ...

    def processes(self) -> frozenset[int]:
        """Those that stand by."""
        ...

    def end(self) -> None:
        """No run comes any more."""
        ...


class _Forks:
    def __init__(self, descriptors: Callable[[], list[int]]) -> None:
        self._descriptors = descriptors

    def start(self, request: Mapping[str, object]) -> Child:
        channel, channel_in = os.pipe()
        output, output_in = os.pipe()
        parent = os.getpid()
        process = os.fork()
        if process == 0:
            try:
                self._begin(request, parent, channel_in, output_in, (channel, output))
            finally:
                # Whatever went wrong: never on into the loop of the parent.
                os._exit(1)
        os.close(channel_in)
        os.close(output_in)
        return Child(process, channel, output, partial(_exit_code, process), partial(_is_gone, process))

    def _begin(
        self, request: Mapping[str, object], parent: int, channel: int, output: int, unused: tuple[int, ...]
    ) -> NoReturn:
        os.setsid()
        die_with_parent(parent)
        for descriptor in (*unused, *self._descriptors()):
            with suppress(OSError):
                os.close(descriptor)
        capture_output(output)
        os.close(output)
        carry_out(request, channel, watch_memory=False)

    def prepare(self) -> None: ...

    def processes(self) -> frozenset[int]:
        return frozenset()

    def end(self) -> None: ...


def _exit_code(process: int) -> int | None:
    if sys.platform == "win32":
        raise NotImplementedError("Windows has no forks")
    with suppress(ChildProcessError):
        found = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
    return -int(signal.SIGTERM)


def _is_gone(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


class _Spares:
    def __init__(self) -> None:
        self._spare: subprocess.Popen[bytes] | None = None

    def start(self, request: Mapping[str, object]) -> Child:
        spare, self._spare = self._spare, None
        if request.get("cuda") or spare is None or spare.poll() is not None:
            # A spare that sees no GPU can't be made to see one.
            self._spare = spare
            spare = self._started(cuda=bool(request.get("cuda")))
        _, channel, output = _pipes(spare)
        # The end of what it can read tells it that this process has ended; so it stays open.
        os.write(_pipes(spare)[0], json.dumps(dict(request)).encode() + b"\n")
        return Child(spare.pid, os.dup(channel), os.dup(output), spare.poll, lambda: spare.poll() is not None)

    def prepare(self) -> None:
        if self._spare is None or self._spare.poll() is not None:
            self._spare = self._started(cuda=False)

    def processes(self) -> frozenset[int]:
        return frozenset() if self._spare is None else frozenset({self._spare.pid})

    def end(self) -> None:
        if self._spare is not None:
            self._spare.kill()
            self._spare.wait()

    def _started(self, *, cuda: bool) -> subprocess.Popen[bytes]:
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")  # noqa: PTH100, PTH118, PTH120
        command = [sys.executable, "-u", program, "--run", *(["--cuda"] if cuda else [])]
        pipe = subprocess.PIPE
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            env=with_gpus() if cuda else None,
            start_new_session=sys.platform != "win32",
        )


def _pipes(process: subprocess.Popen[bytes]) -> tuple[int, int, int]:
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise ValueError("a process without pipes")
    return process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()


def forks(descriptors: Callable[[], list[int]]) -> Launcher:
    """Forks of this process.

    Args:
        descriptors: what a child must not keep.
    """
    return _Forks(descriptors)


def spares() -> Launcher:
    """Programs of their own."""
    return _Spares()
