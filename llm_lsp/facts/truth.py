"""Three-valued answers: what is not known is neither yes nor no."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

__all__ = ["NO", "UNKNOWN", "YES", "Truth", "answer", "set_answer_hook"]


class Truth(Enum):
    """YES, NO or UNKNOWN; compare with `is`, since a bool would have to guess what UNKNOWN means."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Truth is not a bool: write `is YES` or `is NO`")


YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN

_hook: Callable[[Truth], Truth] | None = None


def answer(truth: Truth) -> Truth:
    """What a rule is told; every Truth that leaves the facts passes here, so that a test can forget one."""
    return truth if _hook is None else _hook(truth)


def set_answer_hook(hook: Callable[[Truth], Truth] | None) -> None:
    """From now on `hook` sees every answer and says what the rule hears; None ends that. For `llm_lsp.testing`."""
    global _hook  # noqa: PLW0603
    _hook = hook
