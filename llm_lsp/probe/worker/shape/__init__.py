"""Checks the shapes of the modules of a file by running them: abstractly first, for real where it is small."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Emit = Callable[[dict[str, object]], None]

__all__ = ["check_shapes", "warm_up"]


def check_shapes(request: Mapping[str, object], emit: Emit) -> dict[str, object]:
    """Runs what the request names, and gives its outcome: `{"status": ..., "result": {...}}`.

    `emit` takes progress, and the result without its FLOPs and oracles as soon as the shapes are known.
    """
    from .checking import Check
    from .checkpoints import check_checkpoint
    from .containers import dictionary

    checkpoint = dictionary(request.get("target"))
    if checkpoint is not None:
        return check_checkpoint(request, checkpoint, emit)
    return Check(request, emit).outcome()


def warm_up() -> None:
    """Loads what the first run would have to: one small abstract forward pass in each mode.

    For the parent of forked runs, so nothing here may start a thread: no operation is real.
    """
    from .warming import warm

    warm()
