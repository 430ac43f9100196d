"""Calls of builtins, and of methods of what Python itself defines."""

from __future__ import annotations

import ast

from llm_lsp.facts.access import is_ids
from llm_lsp.facts.events import Arguments
from llm_lsp.facts.library_calls import LibraryCalls
from llm_lsp.facts.values import (
    ANYTHING,
    Constant,
    Object,
    Opaque,
    Tuple,
    Value,
    join,
)
from llm_lsp.knowledge import library

__all__ = ["BuiltinCalls"]

_DEEPEST = 6
_DEEPEST_LENGTH = 3
_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "builtins.set"})
_ITERATORS = frozenset(
    {"list", "tuple", "enumerate", "zip", "sorted", "reversed", "iter", "set", "range", "map", "filter"}
)
_WITHOUT_RESULT = frozenset(
    {"print", "isinstance", "hasattr", "callable", "type", "id", "issubclass", "repr", "format", "input"}
)
_MAKES_WORDS = frozenset({"()", "split", "tokenize", "encode", "encode_plus", "batch_encode_plus"})
_NONE = Constant(None)


class BuiltinCalls(LibraryCalls):
    """Calls whose callee Python defines."""

    def call_builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        given = arguments.positional
        first = given[0] if given else ANYTHING
        if name == "len":
            return Opaque("count" if self.is_collection(first) else "length", self.without_graph(self.flow(first)))
        if name != "range":
            self.examine_lengths(given)
        if name == "super":
            return Opaque("super")
        if name in {"getattr", "setattr"} and len(given) > 1:
            return self.call_attribute_builtin(name, given, node)
        if name in {"exec", "eval", "__import__", "compile", "globals", "locals", "vars"}:
            return self.unresolved("builtins." + name, None, arguments, node)
        if name in {"str", "int", "float", "bool", "round", "abs"}:
            if name == "str" and isinstance(first, Constant) and isinstance(first.value, str):
                return first
            return (
                Opaque(None, self.without_graph(self.flow(first))) if name != "abs" else Opaque(None, self.flow(first))
            )
        if name == "next":
            return self.iterate(first, node)
        if name == "dict" and not given:
            made = self.make("builtins.dict", node)
            for key, value in arguments.keywords.items():
                self.heap[made.id, f"[{key!r}]"] = value
            held = [*arguments.keywords.values(), *arguments.spread]
            if held:
                self.heap[made.id, "each"] = self.join_all(held)
            self.heap[made.id, "keys"] = Constant(tuple(arguments.keywords)) if arguments.is_complete else ANYTHING
            return made
        if name in {"map", "filter"} and len(given) > 1:
            each = self.call(first, Arguments([self.iterate(value, node) for value in given[1:]], {}), node)
            made = self.make("builtins.list", node)
            self.heap[made.id, "each"] = each if name == "map" else self.iterate(given[1], node)
            return made
        if name in {"list", "set"} and not given:
            made = self.make("builtins." + name, node)
            self.heap.forget((made.id, "each"))
            return made
        if name in _ITERATORS:
            call = self.record(node, "builtins." + name, None, arguments)
            return Opaque("builtins." + name, self.flow_of(arguments), call.id)
        if name == "open":
            call = self.record(node, "builtins.open", None, arguments)
            return Opaque("builtins.open", frozenset((call.id,)), call.id)
        if name in _WITHOUT_RESULT:
            self.record(node, "builtins." + name, None, arguments)
            return ANYTHING
        return Opaque(library.ENCODING if is_ids(first) else None, self.flow_of(arguments))

    def call_attribute_builtin(self, name: str, given: list[Value], node: ast.AST) -> Value:
        key = given[1]
        if isinstance(key, Constant) and isinstance(key.value, str):
            if name == "setattr" and len(given) > 2:
                self.assign_attribute(given[0], key.value, given[2])
                return _NONE
            found = self.attribute(given[0], key.value, node)
            return join(found, given[2]) if len(given) > 2 else found
        self.escape(given[0])
        return ANYTHING

    def examine_lengths(self, values: list[Value], depth: int = 0) -> None:
        """Lengths, alone or in a container, are given to something that compares, prints or keeps them."""
        for value in values:
            if isinstance(value, Opaque) and value.cls == "length":
                self.length_examined |= value.sources
            elif isinstance(value, Object) and value.cls in _CONTAINERS and depth < _DEEPEST_LENGTH:
                self.examine_lengths(self.parts_of(value), depth + 1)
            elif isinstance(value, Tuple) and depth < _DEEPEST_LENGTH:
                self.examine_lengths(list(value.items), depth + 1)

    def is_collection(self, value: Value) -> bool:
        """Whether `len` of the value is a number of texts or rows, and says nothing about how long they are."""
        if isinstance(value, Object):
            made = (self.calls.get(id) for id in self.flow(value))
            return value.cls in _CONTAINERS and not any(call is not None and call.name in _MAKES_WORDS for call in made)
        call = self.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
        return call is not None and call.name.rpartition(".")[2] in library.COLLECTIONS

    def method_of_container(self, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
        if name in {"append", "add", "insert", "extend", "update", "setdefault", "appendleft"}:
            for value in arguments.values():
                self.assign_item(
                    receiver, ANYTHING, self.iterate(value, node) if name in {"extend", "update"} else value
                )
            return arguments.positional[-1] if name == "setdefault" and arguments.positional else _NONE
        if name in {"items", "keys", "values"}:
            return self.items_of(receiver, name, self.record(node, name, receiver, arguments), node)
        if name in {"get", "pop"}:
            found = self.item(receiver, arguments.positional[0] if arguments.positional else ANYTHING, node)
            default = arguments.positional[1] if len(arguments.positional) > 1 else None
            return join(found, default) if default is not None else found
        return Opaque(None, self.flow(receiver))

    def method_of_constant(self, receiver: Constant, name: str, arguments: Arguments) -> Value:
        known = [value.value for value in arguments.positional if isinstance(value, Constant)]
        if isinstance(receiver.value, str) and len(known) == len(arguments.positional) and not arguments.spread:
            text = receiver.value
            if name in {"lower", "upper", "strip"} and not known:
                return Constant(getattr(text, name)(), receiver.node, may=receiver.may)
            if name == "format" and all(isinstance(value, Constant) for value in arguments.keywords.values()):
                named = {key: value.value for key, value in arguments.keywords.items() if isinstance(value, Constant)}
                try:
                    return Constant(text.format(*known, **named), may=True)
                except (IndexError, KeyError, ValueError, AttributeError, TypeError):
                    return ANYTHING
        if name == "join":
            # Words or sentences of a text that was taken apart: a piece of it.
            self.cut |= self.flow_of(arguments) & self.sliced
        return Opaque(None, self.flow_of(arguments))

    def method_of_parser(self, parser: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """argparse: what an option holds when the user gives none is known, and may be replaced."""
        if name in {"add_argument_group", "add_mutually_exclusive_group"}:
            return parser
        if name in {"parse_args", "parse_known_args"}:
            parsed = self.outside("args", parser.node)
            for (owner, key), value in list(self.heap.items()):
                if owner == parser.id and key.startswith("option "):
                    self.heap[parsed.id, key[7:]] = value
            return Tuple((parsed, ANYTHING)) if name == "parse_known_args" else parsed
        if name == "set_defaults":
            for key, value in arguments.keywords.items():
                self.heap[parser.id, "option " + key] = self.vague(value)
        if name == "add_argument":
            names = [
                value.value
                for value in arguments.positional
                if isinstance(value, Constant) and isinstance(value.value, str)
            ]
            long = next((option for option in names if option.startswith("--")), names[0] if names else "")
            dest = arguments.keywords.get("dest")
            key = str(dest.value) if isinstance(dest, Constant) else long.lstrip("-").replace("-", "_")
            default = arguments.keywords.get("default")
            if isinstance(default, Constant) and default.value is not None:
                self.heap[parser.id, "option " + key] = self.vague(default)
        return ANYTHING
