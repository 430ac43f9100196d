"""The standard streams: the worker's own are taken away from whatever else runs in its process."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

__all__ = ["capture_output", "claim", "flush"]


def claim() -> tuple[int, int]:
    """Private copies of the standard input and output.

    From then on a read of the standard input finds its end, and what is written to the standard output, from C too, goes
    to the standard error.
    """
    requests, events = os.dup(0), os.dup(1)
    _nothing_to_read()
    os.dup2(2, 1)
    return requests, events


def capture_output(descriptor: int) -> None:
    """Send what this process writes to both standard streams to a descriptor."""
    _nothing_to_read()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)


def _nothing_to_read() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for stream in (sys.stdout, sys.stderr):
        # A program must not fail for want of a character in the encoding of a console that is not there.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def flush() -> None:
    """Write out what Python and C still hold back."""
    import ctypes

    for stream in (sys.stdout, sys.stderr):
        # Whatever the program put in place of its streams.
        with suppress(Exception):
            stream.flush()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
