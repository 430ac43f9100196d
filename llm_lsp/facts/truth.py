"""Three-valued answers: what is not known is neither yes nor no."""

from __future__ import annotations

from enum import Enum

__all__ = ["NO", "UNKNOWN", "YES", "Truth"]


class Truth(Enum):
    """YES, NO or UNKNOWN; compare with `is`, since a bool would have to guess what UNKNOWN means."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Truth is not a bool: write `is YES` or `is NO`")


YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN
