"""One run as its worker sees it: what it has said so far, how long it may go on, and how it ended."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import cast

from .child import wall_and_memory
from .inbox import Stream
from .launch import Child
from .limits import OUT_OF_MEMORY
from .outcomes import failure
from .traces import read_frames

__all__ = ["Run"]

_MOST_PRINTED = 200_000
"""Characters of a program's output that are passed on."""
_PERIOD = 0.1
"""Seconds between two words on what it prints."""
_LONGEST_LINE = 64 * 2**20
_LONGEST_START = 120.0
"""Seconds that a process may take to import torch before it begins."""
_GRACE = 0.3
"""Seconds after the limit in which the process writes down where it is."""
_SIGKILL = 9


class Run:
    """A run that goes on.

    Args:
        request: what is carried out.
        child: who carries it out.
        now: the time, in seconds of a clock that never goes back.
        send: takes events to the client.
    """

    def __init__(
        self, request: Mapping[str, object], child: Child, now: float, send: Callable[[Mapping[str, object]], None]
    ) -> None:
        self.id = request.get("id")
        self._target = request.get("target")
        self.child = child
        self.channel, self.output = Stream(child.channel), Stream(child.output)
        self.deadline = now + _LONGEST_START
        self.done: dict[str, object] | None = None
        """The last event, as soon as it is known how this ends."""
        self.without_torch: dict[str, object] | None = None
        self.loaded: list[str] = []
        self.open = {self.channel, self.output}
        self._wall, _ = wall_and_memory(request)
        self._send = send
        self._line = b""
        self._trace = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._printed = ""
        self._left = _MOST_PRINTED
        self._silent_until = now + _PERIOD

    def take(self, stream: Stream, data: bytes, now: float) -> None:
        """Something was read from one of the streams; `b""` is its end."""
        if not data:
            self.open.discard(stream)
        if stream is self.output:
            self._print(self._decoder.decode(data, final=not data))
            return
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            self._take_line(line, now)
        if len(self._line) > _LONGEST_LINE:
            self._line = b""
            self.end_with("crash", "the probe sent more than can be shown")

    def _take_line(self, line: bytes, now: float) -> None:
        event: object = None
        if line.startswith(b"{"):
            # What is no JSON is of a program that has found the descriptor.
            with suppress(ValueError):
                event = json.loads(line)
        if not isinstance(event, dict):
            self._trace += line.decode("utf-8", "replace") + "\n"
            return
        message = cast("dict[str, object]", event)
        match message.get("event"):
            case "begun":
                self.deadline = now + self._wall + _GRACE
            case "ready":
                self._send(message)
            case "no_torch":
                self.without_torch = message
            case "done" if self.done is None:
                self.loaded = [str(name) for name in cast("list[object]", message.pop("loaded", None) or [])]
                self.done = message
            case "progress" | "result":
                self._send({"id": self.id, **message})
            case _:
                pass

    def _print(self, text: str) -> None:
        if not text or self._left < 0:
            return
        self._printed += text[: self._left]
        self._left -= len(text)
        if self._left < 0:
            self._printed += f"\n[what comes after {_MOST_PRINTED:,} characters is not shown]\n"

    def pass_on_output(self, now: float) -> None:
        """Send what was printed, unless the last words are too fresh: a line often comes in pieces."""
        if self._printed and now >= self._silent_until:
            self._send({"id": self.id, "event": "output", "text": self._printed})
            self._printed = ""
            self._silent_until = now + _PERIOD

    # ------------------------------------------------------------ ends

    def time_is_over(self) -> None:
        """It has run into its deadline."""
        self.end_with("timeout", f"stopped after {self._wall:g} s")

    def has_crashed(self, code: int) -> None:
        """The process has ended without a last word."""
        if code == OUT_OF_MEMORY:
            self.end_with("memory", "more memory was wanted than the limit allows")
        elif code == -_SIGKILL:
            self.end_with("memory", "the system ended the process, most likely for want of memory")
        elif code < 0:
            self.end_with("crash", f"the process crashed (signal {-code}{_signal_name(-code)})")
        else:
            self.end_with("crash", f"the program ended its process (exit code {code})")

    def end_with(self, status: str, message: str) -> None:
        """The outcome, unless there is one; with the place where the program was, if that was written down."""
        if self.done is None:
            self.done = failure(status, message, self._target, read_frames(self._trace))


def _signal_name(number: int) -> str:
    import signal

    try:
        return f", {signal.Signals(number).name}"
    except ValueError:
        return ""
