"""What a fix changes, as a unified diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["unified_diff"]


def unified_diff(before: Source, after: Source) -> str:
    """The difference between two versions of a file, cell by cell in a notebook; empty where there is none."""
    if not before.is_notebook:
        return "".join(_difference(before.path, _lines(before), _lines(after)))
    parts: list[str] = []
    for cell, old, new in zip(before.cells, _cells(before), _cells(after), strict=True):
        parts += _difference(f"{before.path}:cell {cell.number}", old, new)
    return "".join(parts)


def _lines(source: Source) -> list[str]:
    *lines, last = (source.decoded.text if source.decoded else source.text).split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _cells(source: Source) -> Iterator[list[str]]:
    for cell in source.cells:
        yield [line + "\n" for line in source.lines[cell.first_row - 1 : cell.last_row]]


def _difference(name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of one diff; the note on a missing final line end is that of `diff` and of `patch`."""
    from difflib import unified_diff as lines_of

    for line in lines_of(old, new, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
