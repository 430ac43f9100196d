"""What is told from process to process: one JSON object a line, on a descriptor of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from time import monotonic

__all__ = ["Channel", "slowed"]

_PERIOD = 0.1
"""Seconds between two words on the progress of one stage."""


class Channel:
    """The writing end.

    Args:
        descriptor: of a pipe, or of anything that can be written to.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def emit(self, event: Mapping[str, object]) -> None:
        """Send one event."""
        # What JSON has no word for is sent as Python writes it; NaN and infinity as Python's JSON does.
        data = (json.dumps(event, default=str) + "\n").encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self.descriptor, data) :]


def slowed(emit: Callable[[Mapping[str, object]], None]) -> Callable[[Mapping[str, object]], None]:
    """The same, but progress that comes too fast is left out."""
    stage: object = None
    said = 0.0

    def emit_slowly(event: Mapping[str, object]) -> None:
        nonlocal stage, said
        if event.get("event") == "progress":
            now = monotonic()
            if event.get("stage") == stage and now - said < _PERIOD:
                return
            stage, said = event.get("stage"), now
        emit(event)

    return emit_slowly
