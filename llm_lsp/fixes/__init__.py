"""Fixes: from declared changes to edits, from edits to a changed file, whole or not at all."""

from __future__ import annotations

from llm_lsp.fixes.difference import unified_diff
from llm_lsp.fixes.disk import NotWritten, write
from llm_lsp.fixes.edits import realise
from llm_lsp.fixes.passes import Applied, Fixed, FixesDoNotSettle, apply, fix

__all__ = [
    "Applied",
    "Fixed",
    "FixesDoNotSettle",
    "NotWritten",
    "apply",
    "fix",
    "realise",
    "unified_diff",
    "write",
]
