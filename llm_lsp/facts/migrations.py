"""Arguments that the versions of a library which the project works with no longer accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Range
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.views import Call
from llm_lsp.knowledge.migrations import MIGRATIONS, Migration, takes

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place

__all__ = ["GoneArgument", "gone_arguments"]


class GoneArgument:
    """An argument that a call of transformers or trl passes, and that some version of it has taken away."""

    __slots__ = ("_facts", "_migration", "call")

    def __init__(self, facts: Facts, call: Call, migration: Migration) -> None:
        self._facts = facts
        self._migration = migration
        self.call = call

    @property
    def old(self) -> str:
        return self._migration.old

    @property
    def new(self) -> str | None:
        """What it is called now; None if it has no other name."""
        return self._migration.new

    @property
    def advice(self) -> str:
        """What to do where it has no other name."""
        return self._migration.advice

    @property
    def library(self) -> str:
        return self._migration.library

    @property
    def gone(self) -> str:
        """The version from which on it raises."""
        return self._migration.gone

    @property
    def is_refused(self) -> Truth:
        """Whether every version that the project works with raises; where nothing says, the newest is meant."""
        if self._facts.requires(self.library, f">={self.gone}") is NO:
            return answer(NO)
        # Both names are passed, and a caller or a test may choose between them.
        is_given_twice = self.new is not None and self.call.passes(self.new) is not NO
        is_chosen = self.call.is_guarded_by("version", "signature", "hasattr") or self._is_tried
        return answer(UNKNOWN if is_given_twice or is_chosen else YES)

    @property
    def _is_tried(self) -> bool:
        row = self.call.place.range.start.row
        return any(node.lineno <= row <= (node.end_lineno or 0) for node in self._facts.machine.tried)

    @property
    def place(self) -> Place:
        """The argument; the call where it is passed in another way."""
        argument = self.call.argument(self.old)
        return (argument.place if argument is not None else None) or self.call.place

    @property
    def name(self) -> Range | None:
        """The name in front of the `=`; None where it is passed in another way."""
        argument = self.call.argument(self.old)
        if argument is None or argument.place is None:
            return None
        start = argument.place.range.start
        return Range(start, start._replace(column=start.column + len(self.old)))


def gone_arguments(facts: Facts) -> Iterator[GoneArgument]:
    """Those of this module, each place once."""
    seen: set[object] = set()
    for record in facts.records:
        for name in record.arguments.keywords:
            for migration in MIGRATIONS.get(name, ()):
                if takes(migration.takers, record.name):
                    call = Call(facts, record)
                    if call.place.path == facts.source.path and (name, call.place) not in seen:
                        seen.add((name, call.place))
                        yield GoneArgument(facts, call, migration)
