"""Calls of builtins, and of methods of what Python itself defines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from llm_lsp.facts.access import is_ids
from llm_lsp.facts.constants import asks_for_width, number_of
from llm_lsp.facts.events import Arguments, constant
from llm_lsp.facts.library_calls import LibraryCalls
from llm_lsp.facts.machine import GRADIENTS, ON
from llm_lsp.facts.values import (
    ANYTHING,
    Bound,
    Class,
    Constant,
    Function,
    Imported,
    Module,
    Object,
    Opaque,
    Partial,
    Tuple,
    Union,
    Value,
    join,
    options,
)
from llm_lsp.knowledge import library

__all__ = ["BuiltinCalls"]

_DEEPEST_LENGTH = 3
_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "builtins.set"})
_ITERATORS = frozenset(
    {"list", "tuple", "enumerate", "zip", "sorted", "reversed", "iter", "set", "range", "map", "filter"}
)
_WITHOUT_RESULT = frozenset(
    {"print", "isinstance", "hasattr", "callable", "type", "id", "issubclass", "repr", "format", "input", "breakpoint"}
)
_MAKES_ANYTHING = frozenset({"exec", "eval", "__import__", "compile", "globals", "locals", "vars"})
_MAKES_NUMBERS = frozenset({"str", "int", "float", "bool", "round"})
_MAKES_WORDS = frozenset({"()", "split", "tokenize", "encode", "encode_plus", "batch_encode_plus"})
_CHANGES_TEXT = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "removeprefix", "removesuffix", "split", "rsplit", "partition", "rpartition", "title", "capitalize",
})  # fmt: skip
_PUTS = frozenset({"append", "add", "insert", "extend", "update", "setdefault", "appendleft"})
_NONE = Constant(None)
_LONGEST_TEXT = 100_000


class BuiltinCalls(LibraryCalls):
    """Calls whose callee Python defines."""

    __slots__ = ()

    def call_builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        given = arguments.positional
        first = given[0] if given else ANYTHING
        if name == "len":
            self.measured |= self.flow(first)
            return Opaque("count" if self.is_collection(first) else "length", self.without_graph(self.flow(first)))
        if name != "range":
            self.examine_lengths(given)
        self.call_key(first, arguments, node)
        special = _SPECIAL.get(name)
        result = special(self, arguments, node) if special is not None else None
        if result is not None:
            return result
        if name in _MAKES_ANYTHING:
            return self.unresolved("builtins." + name, None, arguments, node)
        if name in _MAKES_NUMBERS:
            known = number_of(first, int if name == "int" else float) if name in {"int", "float"} else None
            if known is not None:
                return known
        if name in _MAKES_NUMBERS:
            return Opaque(None, self.without_graph(self.flow(first)))
        if name in _ITERATORS or name == "open":
            call = self.record(node, "builtins." + name, None, arguments)
            sources = self.flow_of(arguments) if name != "open" else frozenset((call.id,))
            return Opaque("builtins." + name, sources, call.id)
        if name in _WITHOUT_RESULT:
            self.record(node, "builtins." + name, None, arguments)
            return ANYTHING
        return Opaque(library.ENCODING if is_ids(first) else None, self.flow_of(arguments))

    def call_key(self, ordered: Value, arguments: Arguments, node: ast.AST) -> None:
        """`max(texts, key=score)` calls its key with each of what it orders."""
        key = arguments.keywords.get("key")
        is_own = isinstance(key, Object) and isinstance(key.cls, Class)
        if key is not None and (is_own or isinstance(key, (Function, Bound, Partial))):
            self.call(key, Arguments([self.iterate(ordered, node)], {}), node)

    def make_dict(self, arguments: Arguments, node: ast.AST) -> Value | None:
        copied = self.items_to_copy(arguments.positional)
        if copied is None:
            return None
        made = self.make("builtins.dict", node)
        items: dict[object, Value] = {**copied}
        items.update(arguments.keywords)
        for key, value in items.items():
            self.heap[made.id, f"[{key!r}]"] = value
        held = [*items.values(), *arguments.spread]
        if held:
            self.heap[made.id, "each"] = self.join_all(held)
        self.heap[made.id, "keys"] = Constant(tuple(items)) if arguments.is_complete else ANYTHING
        return made

    def items_to_copy(self, given: list[Value]) -> dict[object, Value] | None:
        """The items of the dictionary, or of the list of pairs, that `dict` is given; None if they are not all known."""
        if not given:
            return {}
        keys = self.known_keys(given[0]) if isinstance(given[0], Object) and given[0].cls == "builtins.dict" else None
        if keys is not None and isinstance(given[0], Object):
            return {key: self.heap.get((given[0].id, f"[{key!r}]"), ANYTHING) for key in keys}
        pairs = self.heap.get((given[0].id, "items")) if isinstance(given[0], Object) else given[0]
        found: dict[object, Value] = {}
        for pair in pairs.items if isinstance(pairs, Tuple) else ():
            if not isinstance(pair, Tuple) or len(pair.items) != 2 or not isinstance(pair.items[0], Constant):
                return None
            found[pair.items[0].value] = pair.items[1]
        return found or None

    def make_empty(self, arguments: Arguments, node: ast.AST) -> Value | None:
        if arguments.positional:
            return None
        made = self.make("builtins.list", node)
        self.heap.forget((made.id, "each"))
        return made

    def call_for_each(self, arguments: Arguments, node: ast.AST) -> Value | None:
        """`map` holds what its function returns, `filter` what it looked at."""
        if len(arguments.positional) < 2:
            return None
        function, *iterables = arguments.positional
        result = self.call(function, Arguments([self.iterate(value, node) for value in iterables], {}), node)
        made = self.make("builtins.list", node)
        is_filter = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "filter"
        self.heap[made.id, "each"] = self.iterate(iterables[0], node) if is_filter else result
        return made

    def next_of(self, arguments: Arguments, node: ast.AST) -> Value | None:
        return self.iterate(arguments.positional[0], node) if arguments.positional else None

    def text_of(self, arguments: Arguments, node: ast.AST) -> Value | None:
        del node
        first = arguments.positional[0] if arguments.positional else None
        if isinstance(first, Constant) and isinstance(first.value, (str, int, float)):
            return first if isinstance(first.value, str) else Constant(str(first.value), first.node, may=first.may)
        return first if isinstance(first, Union) and all(_is_text(option) for option, _ in first.options) else None

    def get_attribute(self, arguments: Arguments, node: ast.AST) -> Value | None:
        given = arguments.positional
        if len(given) < 2:
            return None
        key = given[1]
        if not isinstance(key, Constant) or not isinstance(key.value, str):
            self.escape(given[0])
            self.hand_over_methods(given[0], in_any_context=self.heap[GRADIENTS] is not ON)
            return ANYTHING
        found = self.attribute(given[0], key.value, node)
        return join(found, given[2]) if len(given) > 2 and not isinstance(found, Constant) else found

    def hand_over_methods(self, owner: Value, *, in_any_context: bool) -> None:
        """Any method may be called, or be another one."""
        cls = owner.cls if isinstance(owner, Object) else owner
        for base in cls.lineage() if isinstance(cls, Class) else ():
            for member in base.namespace.values():
                self.give_function(member, in_any_context=in_any_context)

    def set_attribute(self, arguments: Arguments, node: ast.AST) -> Value | None:
        del node
        given = arguments.positional
        if len(given) < 3:
            return None
        key = given[1]
        if isinstance(key, Constant) and isinstance(key.value, str):
            self.assign_attribute(given[0], key.value, given[2])
        else:
            self.escape(given[0])
            self.hand_over_methods(given[0], in_any_context=True)
            self.change_any_attribute(given[0], given[2])
        return _NONE

    def change_any_attribute(self, owner: Value, value: Value) -> None:
        """`setattr(owner, name, value)` with a name from outside: each attribute may hold the value now."""
        for option, _ in options(owner):
            if isinstance(option, (Imported, Module)):
                self.change_any_member(option)
            elif isinstance(option, Object):
                for key, known in [entry for entry in self.heap.items() if entry[0][0] == option.id]:
                    if key[1].isidentifier():
                        self.heap[key] = join(known, value if value.sources else ANYTHING)

    def parent(self, arguments: Arguments, node: ast.AST) -> Value | None:
        del arguments, node
        return Opaque("super")

    def examine_lengths(self, values: Sequence[Value], depth: int = 0) -> None:
        """Lengths, alone or in a container, are given to something that compares, prints or keeps them."""
        for value in values:
            if isinstance(value, Opaque):
                if value.cls == "length":
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
        if name == "update" and receiver.cls == "builtins.dict":
            return self.update_dict(receiver, arguments, node)
        if name in _PUTS:
            return self.put(receiver, name, arguments, node)
        if name == "sort":
            self.call_key(receiver, arguments, node)
        if name in {"items", "keys", "values"}:
            self.record(node, name, receiver, arguments)
            return self.items_of(receiver, name, node)
        if name in {"get", "pop"}:
            key = arguments.positional[0] if arguments.positional else ANYTHING
            found = self.item(receiver, key, node)
            default = arguments.positional[1] if len(arguments.positional) > 1 else None
            names = self.known_keys(receiver)
            if name == "pop":
                self.forget_item(receiver, key)
            if names is not None and isinstance(key, Constant) and receiver.id not in self.escaped:
                return found if key.value in names else default or _NONE
            return join(found, default) if default is not None else found
        if name == "copy" and receiver.cls == "builtins.dict":
            copied = self.make_dict(Arguments([receiver], {}), node)
            if copied is not None:
                return copied
        return Opaque(None, self.flow(receiver))

    def put(self, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """What is given to a container goes into it."""
        if name == "append" and self.frame.loops and receiver.cls == "builtins.list":
            arguments = self.kept(receiver, arguments, node)
        elif name == "add" and self.has_keys:
            self.record(node, name, receiver, arguments)
        for value in arguments.values():
            self.assign_item(receiver, ANYTHING, self.iterate(value, node) if name in {"extend", "update"} else value)
        return arguments.positional[-1] if name == "setdefault" and arguments.positional else _NONE

    def kept(self, receiver: Object, arguments: Arguments, node: ast.AST) -> Arguments:
        """What a list is given in a loop: written down if a model gave it, and told from what it was before."""
        value = arguments.positional[0] if len(arguments.positional) == 1 else None
        if not isinstance(value, Opaque):
            return arguments
        has_graph = not self.graph_ids.isdisjoint(value.sources)
        noted = self.derived.get(id(value))
        if not has_graph and (noted is None or noted[1] != "detach"):
            return arguments
        call = self.record(node, "append", receiver, arguments)
        if not has_graph or self.heap[GRADIENTS] is not ON:
            return arguments
        self.graph_ids.add(call.id)
        kept = Opaque(value.cls, value.sources | {call.id}, value.call)
        self.note_derived(kept, "append", value)
        return Arguments([kept], {})

    def update_dict(self, receiver: Object, arguments: Arguments, node: ast.AST) -> Value:
        """`known.update(other, key=value)`: what `other` holds is found under its keys where they are known."""
        for value in (*arguments.positional, *arguments.spread):
            named = self.known_items(value)
            for key, item in (named or {}).items():
                self.assign_item(receiver, Constant(key), item)
            if named is None:
                self.assign_item(receiver, ANYTHING, self.iterate(value, node))
        for key, item in arguments.keywords.items():
            self.assign_item(receiver, Constant(key), item)
        return _NONE

    def method_of_constant(self, receiver: Constant, name: str, arguments: Arguments, node: ast.AST) -> Value:
        known = [value.value for value in arguments.positional if isinstance(value, Constant)]
        if isinstance(receiver.value, str) and len(known) == len(arguments.positional) and not arguments.spread:
            text = receiver.value
            if name in _CHANGES_TEXT and all(isinstance(value, (str, int)) for value in known):
                return self.changed_text(receiver, name, arguments, known)
            if (
                name == "format"
                and not asks_for_width(text)
                and all(isinstance(value, Constant) for value in arguments.keywords.values())
            ):
                named = {key: value.value for key, value in arguments.keywords.items() if isinstance(value, Constant)}
                try:
                    return Constant(text.format(*known, **named), may=True)
                except (IndexError, KeyError, ValueError, AttributeError, TypeError):
                    return ANYTHING
        if not hasattr(str, name) and isinstance(receiver.value, str):
            return self.method_of_path(receiver, name, arguments, node)
        if name == "join":
            # Words or sentences of a text that was taken apart: a piece of it.
            self.cut |= self.flow_of(arguments) & self.sliced
            joined = self.joined_text(str(receiver.value), arguments.get("iterable", 0) or ANYTHING)
            if joined is not None:
                return joined
        return Opaque(None, self.flow_of(arguments))

    def method_of_path(self, path: Constant, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """A method that texts have not got: of a path, whose text is known."""
        if name == "joinpath":
            return self.joined_path(self.record(node, name, None, Arguments([path, *arguments.positional], {})))
        return path if name == "as_posix" else self.library_call(f"pathlib.Path.{name}", arguments, node)

    def changed_text(self, receiver: Constant, name: str, arguments: Arguments, known: list[object]) -> Value:
        """What a method of strings makes of a constant."""
        may = receiver.may or any(isinstance(value, Constant) and value.may for value in arguments.positional)
        if name == "replace" and len(str(receiver.value)) * (len(str(known[-1])) if known else 0) > _LONGEST_TEXT:
            return ANYTHING
        try:
            made = getattr(receiver.value, name)(*known)
        except (TypeError, ValueError):
            return ANYTHING
        if isinstance(made, str):
            return Constant(made, receiver.node, may=may)
        return Tuple(tuple(Constant(part, receiver.node, may=may) for part in made))

    def joined_text(self, separator: str, parts: Value) -> Constant | None:
        """`separator.join(parts)` where all parts are known."""
        held = self.heap.get((parts.id, "items")) if isinstance(parts, Object) else parts
        items = held.items if isinstance(held, Tuple) else ()
        known = [item.value for item in items if isinstance(item, Constant) and isinstance(item.value, str)]
        if not known or len(known) < len(items):
            return None
        return Constant(separator.join(known), may=any(isinstance(item, Constant) and item.may for item in items))

    def method_of_parser(self, parser: Object, name: str, arguments: Arguments) -> Value:
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
            action = constant(arguments.keywords.get("action"))
            if default is None and action in {"store_true", "store_false"}:
                default = Constant(action == "store_false")
            if isinstance(default, Constant) and default.value is not None:
                self.heap[parser.id, "option " + key] = self.vague(default)
        return ANYTHING


def _is_text(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, str)


_SPECIAL: dict[str, Callable[[BuiltinCalls, Arguments, ast.AST], Value | None]] = {
    "super": BuiltinCalls.parent,
    "getattr": BuiltinCalls.get_attribute,
    "setattr": BuiltinCalls.set_attribute,
    "str": BuiltinCalls.text_of,
    "next": BuiltinCalls.next_of,
    "dict": BuiltinCalls.make_dict,
    "list": BuiltinCalls.make_empty,
    "set": BuiltinCalls.make_empty,
    "map": BuiltinCalls.call_for_each,
    "filter": BuiltinCalls.call_for_each,
}
"""What these make of their arguments, or None where they are nothing special with them."""
