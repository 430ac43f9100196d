"""Names for diagnostics that stay the same while the lines around them move."""

from __future__ import annotations

import hashlib
from collections import Counter

from llm_lsp.render.results import Results

__all__ = ["fingerprints"]


def fingerprints(results: Results, *, with_path: bool) -> list[str]:
    """One fingerprint for each diagnostic: code, the text of its first line, and which of the equal ones it is.

    The text counts without its spaces, so that indenting a block or formatting a line changes nothing. `with_path`
    makes fingerprints of equal lines in different files differ.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    names: list[str] = []
    for diagnostic in results.diagnostics:
        location = diagnostic.location
        line = results.lines.line(location.path, location.cell, location.range.start.row) or ""
        key = (location.path, diagnostic.code, "".join(line.split()))
        parts = [*(key if with_path else key[1:]), str(seen[key])]
        seen[key] += 1
        names.append(hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32])
    return names
