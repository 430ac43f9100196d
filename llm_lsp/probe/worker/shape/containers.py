"""Containers of which nothing is known but that they are some, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast


def listed(value: object) -> list[object] | None:
    """The elements of a list or tuple; None for anything else."""
    return list(cast("list[object]", value)) if isinstance(value, (list, tuple)) else None


def mapped(value: object) -> dict[object, object] | None:
    """The items of a mapping, or of what acts as one (the outputs of transformers); None for anything else."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, type) or not callable(getattr(value, "keys", None)):
        return None
    try:
        return dict(cast("Mapping[object, object]", value))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def dictionary(value: object) -> dict[object, object] | None:
    """The value itself if it is a dictionary; None for anything else."""
    return cast("dict[object, object]", value) if isinstance(value, dict) else None
