"""The ways on which a program leads to other modules, and other modules to it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_lsp.facts.values import Object
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import Frame
    from llm_lsp.facts.place import Place
    from llm_lsp.source import Source

__all__ = ["Ways"]


class Ways:
    """What one module has to do with the others of its project."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @property
    def modules(self) -> list[Source]:
        """The other modules of the project that have run, as far as their names are used."""
        machine = self._facts.machine
        return [source for id, source in machine.sources.items() if id and not machine.is_installed(source.path)]

    @property
    def entered(self) -> list[Source]:
        """Those of them in which running this module as a script makes calls."""
        machine = self._facts.machine
        homes = {machine.module_around(record.frame).id for record in self._facts.script_records}
        modules = self.modules if homes - {0} else []
        return [source for source in modules if any(machine.sources.get(id) is source for id in homes)]

    @property
    def may_be_led_to(self) -> bool:
        """Whether there is anything in the module that it does not run itself, or holds for others."""
        machine = self._facts.machine
        held = (value for value in machine.frames[0].locals.values() if isinstance(value, Object))
        return bool(machine.roots) or any(machine.kind(value) in library.COMPUTING_KINDS for value in held)

    def reach(self, place: Place) -> bool:
        """Whether running the module as a script may come to a place in another module, or to a function of its own.

        What stands at its own top runs whoever imports it.
        """
        is_own = place.path == self._facts.source.path
        return any(frame.function is not None or not is_own for frame in self._frames_at(place))

    def call_towards(self, place: Place) -> Place | None:
        """The call in this module that leads to a place in another one; None where the import alone does."""
        for frame in self._frames_at(place):
            for inner in frame.chain():
                outer = inner.parent
                if inner.call is not None and outer is not None and self._facts.machine.module_around(outer).id == 0:
                    return self._facts.place(inner.call)
        return None

    def _frames_at(self, place: Place) -> Iterator[Frame]:
        """The activations, by the module as a script, of the function around a place, or of what makes a call there."""
        machine = self._facts.machine
        homes = {id for id, source in machine.sources.items() if source.path == place.path}
        if not homes:
            return
        for frame in machine.frames:
            around = frame.function.node if frame.function is not None else None
            is_there = around is not None and frame.is_of_script and _meets(around, place)
            if is_there and machine.module_around(frame).id in homes:
                yield frame
        for record in machine.calls.values():
            is_there = record.frame.is_of_script and _meets(record.node, place)
            if is_there and machine.module_around(record.frame).id in homes:
                yield record.frame


def _meets(node: ast.AST, place: Place) -> bool:
    """Whether an expression or a definition, if it is in the same file, shares a row with a place."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return place.range.start.row <= last and first <= place.range.end.row
