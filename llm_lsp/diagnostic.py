"""The plain values that travel between the layers: where, what is wrong, and how to repair it.

Rows and columns count from 1, in code points, everywhere inside llm-lint; an end is exclusive, as in the
Language Server Protocol. Only the front ends convert: the server to UTF-16 units, nobody else at all.

A *module* position counts through the whole module text; for a notebook that text is all its code cells
joined. A *location* is what a person sees: it counts inside one cell. `Source.locate` turns one into the other,
and nothing that leaves `lint` holds a module position.
"""

from __future__ import annotations

from enum import Enum

from llm_lsp.named_tuples import NamedTuple

__all__ = [
    "Applicability",
    "Diagnostic",
    "Edit",
    "Fix",
    "Location",
    "Position",
    "Range",
    "Related",
    "Severity",
]


class Severity(Enum):
    """How much a diagnostic matters; the values are the user's words, the order is the declaration's."""

    ERROR = "error"
    """It raises, or the result is wrong."""
    WARNING = "warning"
    """Silently costly or fragile."""
    INFORMATION = "information"
    """Worth knowing."""

    def is_at_least(self, other: Severity) -> bool:
        """Whether this is as grave as `other` or graver."""
        order = tuple(Severity)
        return order.index(self) <= order.index(other)


class Applicability(Enum):
    """Whether a fix may be applied without being read."""

    SAFE = "safe"
    """The program then does what its text already says it means; nothing that worked can stop working."""
    UNSAFE = "unsafe"
    """Everything else."""


class Position(NamedTuple):
    """A place between two characters: `Position(1, 1)` is before the first one."""

    row: int
    column: int


class Range(NamedTuple):
    """The text from `start` up to, without, `end`."""

    start: Position
    end: Position


class Location(NamedTuple):
    """A range in a file, or in one cell of a notebook."""

    path: str
    """As the front end names the file: relative to the working directory where that is possible, with `/`."""
    cell: int | None
    """Counted from 1 through all cells, markdown too; None outside notebooks."""
    range: Range


class Edit(NamedTuple):
    """Replaces the text at a location; an empty range inserts, an empty content deletes."""

    location: Location
    content: str


class Fix(NamedTuple):
    """A repair: all of its edits, or none."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


class Related(NamedTuple):
    """Another place that a diagnostic speaks of."""

    location: Location
    message: str


class Diagnostic(NamedTuple):
    """What one rule says of one place."""

    code: str
    name: str
    severity: Severity
    message: str
    location: Location
    related: tuple[Related, ...] = ()
    help: str | None = None
    """What a person can do about it, as one clause."""
    fix: Fix | None = None
