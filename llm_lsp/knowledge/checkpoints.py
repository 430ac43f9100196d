"""Checkpoints by the name that code loads them by: a local folder, the hub's cache on disk, the table we ship.

Nothing here opens a connection, and nothing is read before it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from llm_lsp.knowledge.checkpoint import NO_TOKENIZER, Checkpoint, Known
from llm_lsp.knowledge.checkpoint_files import default_cache_root, expanded, from_cache, from_folder
from llm_lsp.knowledge.checkpoint_table import from_table, known_ids
from llm_lsp.knowledge.tokenizers import TokenizerComparison, compare_tokenizers, same_tokenizer

__all__ = [
    "NO_TOKENIZER",
    "Checkpoint",
    "Known",
    "TokenizerComparison",
    "compare_tokenizers",
    "default_cache_root",
    "from_cache",
    "from_folder",
    "from_table",
    "known_ids",
    "resolve",
    "same_tokenizer",
]


def resolve(name: str, folders: Iterable[str | Path] = (), cache_root: str | Path | None = None) -> Checkpoint | None:
    """Return what is known of the checkpoint that `from_pretrained(name)` loads; None where that is nothing.

    A folder of that name, relative to each of `folders` in turn, stands alone, as it does for transformers. Otherwise
    the files in the hub's cache count first and the shipped table fills what they leave blank; neither knows a path.
    Without `cache_root` no cache is looked at (`default_cache_root` says where it is).
    """
    if not name:
        return None
    for folder in folders:
        found = from_folder(Path(folder, expanded(name)), name=name, place=name.rstrip("/\\"))
        if found is not None:
            return found
    cached = None if cache_root is None else from_cache(name, cache_root)
    recorded = from_table(name)
    if cached is None or recorded is None or cached.base_model is not None:
        return cached or recorded
    return recorded._replace(**{field: value for field, value in cached._asdict().items() if value is not None})
