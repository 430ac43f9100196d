"""Under which context other modules of the project call into this one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_lsp.facts.program import Program
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth
from llm_lsp.facts.values import Constant

if TYPE_CHECKING:
    from llm_lsp.diagnostic import Position
    from llm_lsp.facts import Facts
    from llm_lsp.facts.views import Call

__all__ = ["Callers"]

_MOST_IMPORTERS = 8


class Callers:
    """What the modules that import this one do with its functions.

    Each of them is run, with this module's functions entered wherever they lead to one. That is asked only where a
    report depends on it: a project without a fault pays nothing.
    """

    def __init__(self, facts: Facts) -> None:
        source = facts.source

        functions = (node for node in source.statements if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        self._importers = facts.world.importers(source.path, {function.name for function in functions})
        self._gradients: dict[Position, set[Truth]] = {}
        for importer in self._importers[:_MOST_IMPORTERS]:
            program = Program(importer, facts.world, facts.stop, entered=source)
            program.run_script()
            program.run_roots()
            for record in program.calls.values():
                if program.sources.get(program.module_around(record.frame).id) is source:
                    start = source.range_of(record.node).start
                    self._gradients.setdefault(start, set()).add(_truth(record.gradients))
            program.clear()

    def gradients(self, call: Call) -> Truth:
        """Whether gradients are on for this call on some way from another module; YES if no other module leads here."""
        root = call.record.frame.root.function
        if root is None or not any(root.name in importer.text for importer in self._importers):
            return YES
        found = self._gradients.get(call.place.range.start, set())
        if YES in found:
            return YES
        return NO if found == {NO} and len(self._importers) <= _MOST_IMPORTERS else UNKNOWN


def _truth(value: object) -> Truth:
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return YES if value.value else NO
    return UNKNOWN
