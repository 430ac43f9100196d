"""What a command says when it was asked for what can't be done."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """What was asked for can't be done; the message says why and names the way out."""
