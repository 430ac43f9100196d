"""What arrives on several descriptors at once: by `select`, and by threads where the process is never forked.

Windows can't wait for pipes in any other way than by threads; a process with threads can't be forked safely.
"""

from __future__ import annotations

import os
import selectors
import time
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import Protocol

__all__ = ["Inbox", "Stream", "polled", "read_by_threads"]

_CHUNK = 1 << 16
_KEPT_CHUNKS = 64


class Stream:
    """The reading end of a pipe, which is closed with it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor


class Inbox(Protocol):
    """Gathers what is read."""

    def add(self, stream: Stream) -> None:
        """Read from this stream too."""
        ...

    def remove(self, stream: Stream) -> None:
        """Read from it no more."""
        ...

    def wait(self, seconds: float) -> list[tuple[Stream, bytes]]:
        """What has arrived, after so long at the latest; a stream that has ended gives `b""`."""
        ...

    def descriptors(self) -> list[int]:
        """All that a child of this process must not keep."""
        ...


class _Polled:
    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, stream: Stream) -> None:
        self._selector.register(stream.descriptor, selectors.EVENT_READ, stream)

    def remove(self, stream: Stream) -> None:
        self._selector.unregister(stream.descriptor)
        os.close(stream.descriptor)

    def wait(self, seconds: float) -> list[tuple[Stream, bytes]]:
        found: list[tuple[Stream, bytes]] = []
        for key, _ in self._selector.select(seconds):
            stream: Stream = key.data
            found.append((stream, _read(stream.descriptor)))
        return found

    def descriptors(self) -> list[int]:
        return [key.fd for key in self._selector.get_map().values()]


class _ReadByThreads:
    def __init__(self) -> None:
        # Bounded, so that a program that prints without end waits for us and not for the memory.
        self._queue: Queue[tuple[Stream, bytes]] = Queue(_KEPT_CHUNKS)
        self._streams: set[Stream] = set()

    def add(self, stream: Stream) -> None:
        self._streams.add(stream)
        Thread(target=self._read, args=(stream,), daemon=True).start()

    def remove(self, stream: Stream) -> None:
        # Its thread closes it: a descriptor that is closed while it is read from may be another one at once.
        self._streams.discard(stream)

    def wait(self, seconds: float) -> list[tuple[Stream, bytes]]:
        found: list[tuple[Stream, bytes]] = []
        until = time.monotonic() + seconds
        while not found:
            try:
                found.append(self._queue.get(timeout=max(0.0, until - time.monotonic())))
            except Empty:
                break
            with suppress(Empty):
                while len(found) < _KEPT_CHUNKS:
                    found.append(self._queue.get_nowait())
            found = [(stream, data) for stream, data in found if stream in self._streams]
        return found

    def descriptors(self) -> list[int]:
        return []

    def _read(self, stream: Stream) -> None:
        data = b"first"
        while data:
            data = _read(stream.descriptor)
            if stream in self._streams:
                self._queue.put((stream, data))
        os.close(stream.descriptor)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


def polled() -> Inbox:
    """One that needs no threads."""
    return _Polled()


def read_by_threads() -> Inbox:
    """One that works on every system."""
    return _ReadByThreads()
