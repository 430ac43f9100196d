"""The mutants that a maker makes of a text, and that all of them are programs with the rows of that text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from scripts.mutation.edits import Mutant, Program

__all__ = ["made", "texts"]


def made(maker: Callable[[Program], Iterator[Mutant]], text: str) -> list[Mutant]:
    """In the maker's order."""
    found = list(maker(Program(text)))
    for mutant in found:
        ast.parse(mutant.text)
        assert mutant.text.count("\n") == text.count("\n"), "a mutant keeps its rows"
    return found


def texts(maker: Callable[[Program], Iterator[Mutant]], text: str) -> dict[str, str]:
    """By what is changed; the last one where several are of a kind."""
    return {mutant.kind: mutant.text for mutant in made(maker, text)}
