"""What is done while nobody waits for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Idle"]

PAUSE = 2.0
"""Seconds without a message: longer than between two keys, shorter than somebody thinks."""


class Idle:
    """Does some work whenever the client has been silent for a while; used in the event loop.

    Args:
        work: done once for each silence.
        pause: the seconds without a message that make one.
    """

    def __init__(self, work: Callable[[], object], pause: float = PAUSE) -> None:
        self._work = work
        self._pause = pause
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def heard(self) -> None:
        """There is a message."""
        loop = asyncio.get_running_loop()
        self._heard = loop.time()
        # One timer for many messages.
        if self._timer is None:
            self._timer = loop.call_later(self._pause, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        remaining = self._heard + self._pause - loop.time()
        if remaining > 0:
            self._timer = loop.call_later(remaining, self._look, loop)
        else:
            self._timer = None
            self._work()
