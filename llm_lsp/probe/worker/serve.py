"""The worker's loop: requests in, events out, one process for each run.

```
worker/__main__.py [--no-fork] [--idle SECONDS]
```

A request is one JSON object a line on the standard input, an event one on the standard output. The worker ends when its
client is gone, when nothing was asked for long enough, and when other packages are installed than those that it has
imported; it says `retired` before, and requests that it has not begun are for the next worker.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NoReturn, cast

from .channel import Channel
from .child import carry_out
from .environment import prepare, stamp
from .inbox import Inbox, Stream, polled, read_by_threads
from .launch import Child, Launcher, forks, spares
from .libraries import heavy_modules, learn, load, warm_up
from .outcomes import failure
from .processes import adopt_orphans, kill_strays, kill_tree, running_threads
from .runs import Run
from .streams import claim

__all__ = ["main"]

_WITHOUT_TORCH = 3
_AT_ONCE = 2
"""Runs; those that come meanwhile wait."""
_TICK = 0.2
"""Seconds after which it is seen that a process has ended though others hold its pipes."""
_LAST_WORDS = 0.3
"""Seconds that a process that has ended, or was ended, leaves for what it has printed to arrive."""
_IDLE = 600.0
_CALM = 0.5
"""Seconds without anything to do after which such time is used; who asks only once is gone by then."""


class Worker:
    """Carries out what one client asks for.

    Args:
        requests: the descriptor that requests arrive on.
        channel: takes events to the client.
        inbox: waits for what arrives.
        launcher: starts runs.
        fresh: starts those that a fork can't do.
        idle: seconds without anything to do after which the worker ends.
    """

    def __init__(
        self,
        requests: int,
        channel: Channel,
        inbox: Inbox,
        launcher: Launcher,
        fresh: Launcher,
        idle: float,
    ) -> None:
        self._requests = Stream(requests)
        self._channel = channel
        self._inbox = inbox
        self._launcher = launcher
        self._fresh = fresh
        self._idle = idle
        self._line = b""
        self._waiting: deque[dict[str, object]] = deque()
        self._runs: dict[Stream, Run] = {}
        """By both streams."""
        self._left: dict[Run, float] = {}
        """Runs whose process has ended by itself, with the time until which its last words may arrive."""
        self._ended: dict[Run, float] = {}
        """Runs whose processes were ended, with the time until which what they have printed may arrive."""
        self._dying: list[Child] = []
        self._may_have_left_orphans = False
        self._environment = stamp()
        self._said_ready = launcher is not fresh
        self._client_is_gone = False
        self._learnt: list[str] = []
        self._has_answered = False
        self._is_prepared = False
        self._is_warm = False

    def serve(self) -> int:
        """Work until there is a reason to end; the exit code."""
        self._inbox.add(self._requests)
        self._launcher.prepare()
        idle_since = time.monotonic()
        while not self._client_is_gone:
            for stream, data in self._inbox.wait(self._patience(idle_since)):
                if stream is self._requests:
                    self._take_requests(data)
                elif (run := self._runs.get(stream)) is not None:
                    run.take(stream, data, time.monotonic())
            if (without_torch := self._attend()) is not None:
                self._tell(without_torch)
                return self._end(_WITHOUT_TORCH)
            now = time.monotonic()
            if self._is_busy:
                idle_since = now
                self._is_prepared = False
                if not self._begin_waiting():
                    return self._retire("environment")
            elif now >= idle_since + self._idle:
                return self._retire("idle")
            elif now >= idle_since + _CALM and not self._is_prepared:
                self._prepare()
        return self._end(0)

    @property
    def _is_busy(self) -> bool:
        return bool(self._runs or self._waiting or self._may_have_left_orphans)

    def _patience(self, idle_since: float) -> float:
        """How long nothing needs to be looked at unless something arrives."""
        if self._is_busy:
            return _TICK / 10 if self._left or self._ended or self._may_have_left_orphans else _TICK
        longest = self._idle if self._is_prepared else min(_CALM, self._idle)
        return max(0.0, idle_since + longest - time.monotonic())

    def _retire(self, reason: str) -> int:
        self._tell({"event": "retired", "reason": reason})
        return self._end(0)

    def _end(self, code: int) -> int:
        for run in {*self._runs.values()}:
            kill_tree(run.child.process)
        self._launcher.end()
        self._fresh.end()
        kill_strays(frozenset())
        return code

    # ------------------------------------------------------------ requests

    def _take_requests(self, data: bytes) -> None:
        if not data:
            self._client_is_gone = True
            return
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            with suppress(ValueError):
                request: object = json.loads(line)
                if isinstance(request, dict):
                    self._take_request(cast("dict[str, object]", request))

    def _take_request(self, request: dict[str, object]) -> None:
        match request.get("op"):
            case "shape":
                self._waiting.append(request)
            case "cancel":
                self._cancel(request.get("id"))
            case other:
                self._refuse(request, "unsupported", f"the worker does not know the operation `{other}`")

    def _cancel(self, request_id: object) -> None:
        for run in self._runs.values():
            if run.id == request_id:
                run.end_with("cancelled", "cancelled")
        for request in [request for request in self._waiting if request.get("id") == request_id]:
            self._waiting.remove(request)
            self._refuse(request, "cancelled", "cancelled")

    def _refuse(self, request: Mapping[str, object], status: str, message: str) -> None:
        self._tell({"id": request.get("id"), **failure(status, message, request.get("target"))})

    # ------------------------------------------------------------ runs

    def _begin_waiting(self) -> bool:
        """Start what waits, as far as there is room; whether that can still be done here."""
        while self._waiting and len(self._runs) < 2 * _AT_ONCE:
            if stamp() != self._environment:
                # What is imported here is not what is installed: once the last run is over, another worker is to go on.
                return bool(self._runs)
            self._start(self._waiting.popleft())
        return True

    def _start(self, request: dict[str, object]) -> None:
        launcher = self._launcher
        if launcher is not self._fresh:
            if not self._runs:
                # Before the fork, so that only the first run waits for it.
                if self._has_answered:
                    self._warm_up()
                learn(heavy_modules(request.get("file")))
            if request.get("cuda") or running_threads() > 1:
                launcher = self._fresh
        try:
            run = Run(request, launcher.start(request), time.monotonic(), self._send)
        except OSError as error:
            self._refuse(request, "crash", f"no process can be started: {error}")
            return
        for stream in (run.channel, run.output):
            self._runs[stream] = run
            self._inbox.add(stream)

    def _send(self, event: Mapping[str, object]) -> None:
        if event.get("event") == "ready":
            if self._said_ready:
                return
            self._said_ready = True
        self._tell(event)

    def _tell(self, event: Mapping[str, object]) -> None:
        try:
            self._channel.emit(event)
        except OSError:
            self._client_is_gone = True

    def _attend(self) -> dict[str, object] | None:
        """See which runs are over; the event `no_torch` where one could not begin."""
        now = time.monotonic()
        self._bury()
        for run in dict.fromkeys(self._runs.values()):
            run.pass_on_output(now)
            if run.without_torch is not None:
                return run.without_torch
            if run.done is None and now >= run.deadline:
                run.time_is_over()
            if run.done is None and (code := run.child.exit_code()) is not None and self._is_read(run, now):
                run.has_crashed(code)
            if run.done is not None and self._is_over(run, now):
                self._finish(run)
        return None

    def _bury(self) -> None:
        """Forget processes that have ended, and end what they have left behind."""
        self._dying = [child for child in self._dying if not child.is_gone()]
        # While another run goes on it can't be told whose an orphan is.
        if self._may_have_left_orphans and not self._dying and not self._runs:
            kill_strays(self._launcher.processes() | self._fresh.processes())
            self._may_have_left_orphans = False

    def _is_read(self, run: Run, now: float) -> bool:
        """Whether all that a process that has ended had to say has arrived."""
        until = self._left.setdefault(run, now + _LAST_WORDS)
        return run.channel not in run.open or now >= until

    def _is_over(self, run: Run, now: float) -> bool:
        """Whether what a run has printed has arrived too; its processes are ended first."""
        if run not in self._ended:
            kill_tree(run.child.process)
            self._dying.append(run.child)
            self._may_have_left_orphans = True
            self._ended[run] = now + _LAST_WORDS
        return run.output not in run.open or now >= self._ended[run]

    def _finish(self, run: Run) -> None:
        run.pass_on_output(math.inf)
        self._left.pop(run, None)
        del self._ended[run]
        for stream in (run.channel, run.output):
            del self._runs[stream]
            self._inbox.remove(stream)
        self._learnt += run.loaded
        self._has_answered = True
        self._tell({"id": run.id, **(run.done or {})})

    def _prepare(self) -> None:
        """Use the time in which nothing is asked for."""
        self._is_prepared = True
        self._launcher.prepare()
        if self._launcher is not self._fresh:
            self._warm_up()
            learn(self._learnt)
        self._learnt.clear()

    def _warm_up(self) -> None:
        if not self._is_warm:
            warm_up()
            self._is_warm = True


def main(arguments: Sequence[str]) -> NoReturn:
    """Be the worker, or one of its spares."""
    parser = argparse.ArgumentParser(prog="worker")
    parser.add_argument("--no-fork", action="store_true")
    parser.add_argument("--idle", type=float, default=_IDLE)
    parser.add_argument("--run", action="store_true", help="carry out one request")
    parser.add_argument("--cuda", action="store_true")
    options = parser.parse_args(arguments)
    requests, events = claim()
    prepare(cuda=options.cuda)
    channel = Channel(events)
    if options.run:
        _run_once(requests, channel)
    os._exit(_serve(requests, channel, forks_wanted=not options.no_fork, idle=options.idle))


def _serve(requests: int, channel: Channel, *, forks_wanted: bool, idle: float) -> int:
    adopt_orphans()
    fresh = spares()
    if forks_wanted and sys.platform == "linux":
        loaded = load(forks=True)
        if loaded["event"] == "no_torch":
            channel.emit(loaded)
            return _WITHOUT_TORCH
        if running_threads() == 1:
            channel.emit(loaded)
            inbox = polled()
            launcher = forks(lambda: [channel.descriptor, *inbox.descriptors()])
            return Worker(requests, channel, inbox, launcher, fresh, idle).serve()
    return Worker(requests, channel, read_by_threads(), fresh, fresh, idle).serve()


def _run_once(requests: int, channel: Channel) -> NoReturn:
    from threading import Thread

    loaded = load(forks=False)
    channel.emit(loaded)
    if loaded["event"] == "no_torch":
        os._exit(_WITHOUT_TORCH)
    warm_up()
    with os.fdopen(requests, "rb") as stream:
        line = stream.readline()
        if not line:
            os._exit(0)

        def end_with_the_worker() -> None:
            stream.read()
            os._exit(1)

        Thread(target=end_with_the_worker, daemon=True).start()
        try:
            carry_out(json.loads(line), channel.descriptor, watch_memory=True)
        finally:
            os._exit(1)
