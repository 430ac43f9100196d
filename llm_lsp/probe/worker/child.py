"""One run, in a process of its own that ends with it."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Mapping
from typing import NoReturn, cast

from .channel import Channel, slowed
from .libraries import loaded_modules
from .limits import is_out_of_memory, limit_memory
from .offline import Attempt, refuse_connections
from .outcomes import failure
from .streams import flush
from .traces import is_of_a_library

__all__ = ["carry_out"]

_WALL_SECONDS = 20.0
_MEGABYTES = 4096.0
_COLLECTIONS = (10_000, 20, 20)
"""Of garbage: rare, since most of what a run allocates is what it imports, and stays."""


def carry_out(request: Mapping[str, object], descriptor: int, *, watch_memory: bool) -> NoReturn:
    """Do what a request asks for, tell it on the descriptor, and end this process.

    Args:
        request: of the operation `shape`.
        descriptor: where events go; the standard streams are captured by now.
        watch_memory: see `limit_memory`.
    """
    channel = Channel(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Libraries that were imported since the warm-up too: a collection would touch, and so copy, what this fork shares.
    gc.freeze()
    gc.set_threshold(*_COLLECTIONS)
    # Nothing is left in the user's folders.
    sys.dont_write_bytecode = True
    limits = wall_and_memory(request)
    # Where it was when the time was over, or when a library crashed, is written between the events.
    faulthandler.enable(file=descriptor)
    faulthandler.dump_traceback_later(limits[0], file=descriptor)
    attempts = refuse_connections()
    limit_memory(limits[1], by_watching=watch_memory or bool(request.get("cuda")))
    channel.emit({"event": "begun"})
    done = _outcome(request, channel)
    result = cast("dict[str, object]", done["result"])
    if attempts:
        result["notices"] = [*cast("list[object]", result.get("notices") or []), *map(_notice, attempts)]
    channel.emit({**done, "event": "done", "loaded": loaded_modules()})
    flush()
    # Not by an exit: threads that never end would be waited for.
    os._exit(0)


def wall_and_memory(request: Mapping[str, object]) -> tuple[float, float]:
    """The limits of a run, in seconds and megabytes."""
    limits = request.get("limits")
    given = cast("dict[str, object]", limits) if isinstance(limits, dict) else dict[str, object]()
    return _positive(given.get("wall_s"), _WALL_SECONDS), _positive(given.get("mem_mb"), _MEGABYTES)


def _positive(given: object, default: float) -> float:
    return float(given) if isinstance(given, (int, float)) and given > 0 else default


def _outcome(request: Mapping[str, object], channel: Channel) -> dict[str, object]:
    try:
        from .shape import check_shapes

        return check_shapes(request, slowed(channel.emit))
    except SystemExit as error:
        return failure("exit", f"the program called exit({error.code!r})", request.get("target"))
    except BaseException as error:  # noqa: BLE001 (each is an outcome)
        if is_out_of_memory(error):
            _, megabytes = wall_and_memory(request)
            return failure("memory", f"more than {megabytes:,.0f} MB were wanted", request.get("target"))
        return failure("crash", f"the probe failed: {type(error).__name__}: {error}", request.get("target"))


def _notice(attempt: Attempt) -> dict[str, object]:
    users = [(file, line) for file, line in attempt.frames if not is_of_a_library(file)]
    file, line = users[0] if users else (None, None)
    message = f"wanted to connect to {attempt.host}, and was refused: the probe runs offline"
    return {"kind": "network", "message": message, "file": file, "line": line}
