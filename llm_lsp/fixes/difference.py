"""What a fix changes, as a unified diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llm_lsp.source import Source

__all__ = ["unified_diff"]


def unified_diff(before: Source, after: Source) -> str:
    """The difference between two versions of a file, cell by cell in a notebook; empty where there is none."""
    if before.notebook is None or after.notebook is None:
        texts = [one.decoded.text if one.decoded else one.text for one in (before, after)]
        return "".join(_difference(before.path, *map(_lines, texts)))
    parts: list[str] = []
    for old, new in zip(before.notebook.cells, after.notebook.cells, strict=True):
        parts += _difference(f"{before.path}:cell {old.number}", _lines(old.text), _lines(new.text))
    return "".join(parts)


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _difference(name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of one diff; the note on a missing final line end is that of `diff` and of `patch`."""
    from difflib import unified_diff as lines_of

    for line in lines_of(old, new, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
