"""Checkpoints by the name that code loads them by: from the table that ships with us, a folder, the hub's cache."""

from __future__ import annotations

from llm_lsp.knowledge.checkpoint import NO_TOKENIZER, Checkpoint, Known
from llm_lsp.knowledge.checkpoint_table import from_table, known_ids

__all__ = ["NO_TOKENIZER", "Checkpoint", "Known", "from_table", "known_ids"]
