"""What a program does with models, tokenizers, tensors, optimizers and generators."""

from __future__ import annotations

from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth

__all__ = ["NO", "UNKNOWN", "YES", "Facts", "Place", "Truth"]


class Facts:
    """Stand-in until the interpreter lands."""
