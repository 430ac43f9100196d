"""Where in the text something was written."""

from __future__ import annotations

from llm_lsp.diagnostic import Range
from llm_lsp.named_tuples import NamedTuple

__all__ = ["Place"]


class Place(NamedTuple):
    """A piece of text of one module, in module positions."""

    path: str
    range: Range
    text: str
    """The source text itself, as the user wrote it."""
