"""How a run ends that has no result: one message, and where the program was."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["failure"]


def failure(status: str, message: str, target: object, frames: Sequence[dict[str, object]] = ()) -> dict[str, object]:
    """The last event of a run, without its id.

    Args:
        status: how it ended.
        message: what went wrong, as one clause.
        target: what was to be run.
        frames: where the program was, from the outermost on.
    """
    operands: list[str] = []
    error: dict[str, object] = {"message": message, "op": None, "operands": operands, "frames": list(frames)}
    result: dict[str, object] = {"target": target, "error": error}
    return {"event": "done", "status": status, "result": result}
