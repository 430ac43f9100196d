"""What values are computed from, and where they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from llm_lsp.facts.events import Arguments
from llm_lsp.facts.machine import Machine
from llm_lsp.facts.values import (
    ANYTHING,
    Bound,
    Constant,
    Function,
    Object,
    Opaque,
    Partial,
    Sources,
    Symbol,
    Tuple,
    Union,
    Value,
    options,
)
from llm_lsp.knowledge import library

__all__ = ["Flow"]

_DEEPEST_CONTAINER = 4
_PARTS = ["items", "each"]


class Flow(Machine):
    """Follows values through containers, and out of what is seen of the program."""

    __slots__ = ()

    def flow(self, value: Value, depth: int = 0) -> Sources:
        """What a value was computed from, with what a container holds."""
        sources = value.sources
        if sources or depth > _DEEPEST_CONTAINER:
            return sources
        if type(value) is Object:
            each = self.heap.get((value.id, "each"))
            if each is not None:
                return self.flow(each, depth + 1)
        elif type(value) is Tuple or type(value) is Union:
            return _union(self, value, depth + 1)
        return sources

    def flow_of(self, arguments: Arguments) -> Sources:
        found: Sources = frozenset()
        for value in arguments.values():
            sources = value.sources or self.flow(value)
            if sources:
                found |= sources
        return found

    def give_function(self, value: Value, *, in_any_context: bool) -> None:
        """A function of the program, if the value is one, is called by somebody else."""
        while isinstance(value, Partial):
            value = value.callee
        function = value.function if isinstance(value, Bound) else value
        if isinstance(function, Function):
            self.handed_over[function.node] = self.handed_over.get(function.node, False) or in_any_context

    def escape(self, value: Value) -> None:
        """The value goes where its further way is unknown."""
        if type(value) is Constant or type(value) is Symbol:
            return
        if isinstance(value, (Function, Bound, Partial)):
            self.give_function(value, in_any_context=True)
            return
        self.escaped |= self.flow(value)
        self.hand_out(value)
        if self.has_samplers:
            self.escape_loaders(value)
        for option, _ in options(value):
            if isinstance(option, Object):
                self.escaped.add(option.id)
            else:
                self.give_function(option, in_any_context=True)

    def escape_loaders(self, value: Value, depth: int = 0) -> None:
        """Loaders, alone or in a container, go where somebody may change how they draw."""
        for option, _ in options(value):
            if isinstance(option, Opaque) and option.call is not None and option.cls in library.LOADERS:
                self.escaped.add(option.call)
            elif isinstance(option, Object) and depth < _DEEPEST_CONTAINER:
                for part in self.parts_of(option):
                    self.escape_loaders(part, depth + 1)

    def hand_out(self, value: Value, depth: int = 0) -> None:
        """Ids of tokens, alone or in a container, leave what the program is seen to do."""
        if depth > _DEEPEST_CONTAINER or type(value) is Constant or type(value) is Symbol:
            return
        for option, _ in options(value):
            parts: Sequence[Value] = ()
            if isinstance(option, Opaque):
                made = self.calls.get(option.call) if option.call is not None else None
                is_whole = made is not None and made.name.rpartition(".")[2] in library.COLLECTIONS
                if is_whole or option.cls in {library.ENCODING, library.MASK}:
                    self.handed_out |= option.sources
                if made is not None and option.cls in library.KEEPS_IDS:
                    parts = made.arguments.values()
            elif isinstance(option, Tuple):
                parts = option.items
            elif isinstance(option, Object):
                parts = self.parts_of(option)
            for part in parts:
                self.hand_out(part, depth + 1)

    def parts_of(self, container: Object) -> list[Value]:
        """What a container holds: each item where all are known, what they have in common otherwise."""
        names = self.known_keys(container)
        parts = [f"[{name!r}]" for name in names] + ["items"] if names else _PARTS
        heap, id = self.heap, container.id
        return [value for part in parts if (value := heap.get((id, part))) is not None]

    def known_keys(self, container: Object) -> tuple[object, ...] | None:
        """The keys of a dictionary, in order; None if it may have others."""
        keys = self.heap.get((container.id, "keys"))
        return keys.value if isinstance(keys, Constant) and _is_tuple(keys.value) else None

    def without_graph(self, sources: Sources) -> Sources:
        """What is left of the sources behind an operation that no gradient passes."""
        return sources - self.graph_ids if sources else sources

    def library_of(self, value: Value) -> str | None:
        """The library whose function made the value, itself or the one that the value is a part or a map of."""
        for _ in range(_DEEPEST_CONTAINER):
            made = self.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
            if made is None:
                return None
            if made.receiver is None:
                return made.name.partition(".")[0]
            value = made.receiver
        return None


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _union(flow: Flow, value: Tuple | Union, depth: int) -> Sources:
    """What the items or options were computed from, containers among them looked into."""
    items = value.items if isinstance(value, Tuple) else tuple(option for option, _ in value.options)
    if not any(isinstance(item, Object) for item in items):
        return value.sources
    found: Sources = frozenset()
    for item in items:
        if item is not ANYTHING:
            found |= flow.flow(item, depth)
    return found
