"""When the garbage collector runs."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["collect_if_needed", "collector_off"]

_GARBAGE = 500_000
"""So many new containers, some 50 MB, are looked through at the latest."""


@contextmanager
def collector_off() -> Generator[None, None, None]:
    """No garbage collection inside: it would look through every tree again and again, and find nothing.

    A file leaves no reference cycles behind, so that its memory is free when the next one begins.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def collect_if_needed() -> None:
    """A net below that promise: collect where something keeps growing all the same."""
    if gc.get_count()[0] > _GARBAGE:
        gc.collect()
