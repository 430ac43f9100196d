"""Attributes, items and elements, read and written."""

from __future__ import annotations

import ast

from llm_lsp.facts.events import Arguments, CallRecord, Frame, HeldParts
from llm_lsp.facts.sequences import Sequences, is_ids, moved
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
    Symbol,
    Tuple,
    Union,
    Value,
    join,
    options,
)
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of

__all__ = ["Access", "is_ids"]

_LENGTHS = frozenset({"shape", "size", "ndim"})
_TELLS_LENGTH = frozenset(
    {"num_truncated_tokens", "overflowing_tokens", "overflow_to_sample_mapping", "overflowing", "n_tokens", "length"}
)
_DEEPEST_CHILD = 4
_DEEPEST_CONTAINER = 2
_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "builtins.set"})
_MOST_JOINED = 64
_SAME_ELEMENTS = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed", "builtins.iter", "builtins.set", "itertools.chain", "itertools.islice", "itertools.cycle"})  # fmt: skip


class Access(Sequences):
    """Reads and writes what values hold, in the present state."""

    __slots__ = ()

    # ------------------------------------------------------------ attributes

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        if isinstance(value, Symbol):
            return self.member_of_import(value, name) if type(value) is Imported else Symbol(f"{value.name}.{name}")
        if isinstance(value, Module):
            return self.member(value, name)
        if name == "grad":
            self.frames_reading_gradients.add(self.frame.id)
        elif name in library.TELLS_GRAPH:
            self.escaped |= value.sources & self.graph_ids
        if isinstance(value, Object):
            return self.attribute_of_object(value, name, node)
        if isinstance(value, Class):
            return value.find(name) or ANYTHING
        if isinstance(value, Union):
            return self.join_all([self.attribute(option, name, node) for option, _ in value.options])
        if isinstance(value, Function) and name in library.GROUP_DECORATORS and value.is_group:
            return Symbol(f"click.{name}")
        if isinstance(value, Constant) and name == "value":
            return value  # a member of an enumeration: no constant of another kind has this attribute
        return self.attribute_of_flow(value, name) if value.sources else ANYTHING

    def attribute_of_flow(self, value: Value, name: str) -> Value:
        """An attribute of something of which only the flow is known."""
        if name in _LENGTHS:
            return Opaque("length", self.without_graph(value.sources))
        if name in _TELLS_LENGTH:
            self.length_examined |= value.sources
        elif name in library.ATTENTIONS:
            self.attentions_read |= value.sources
        if name in library.NOT_DIFFERENTIABLE:
            return Opaque(None, self.without_graph(value.sources))
        return self.part_of_opaque(value, name)

    def part_of_opaque(self, value: Value, name: object) -> Value:
        """An attribute or item of something that is not followed: the features of a `BatchFeature` stay features."""
        if not isinstance(value, Opaque):
            return Opaque(None, value.sources)
        known = self.parts.get((id(value), name))
        if known is not None:
            return known[1]
        is_feature = value.cls == library.FEATURES and name in library.FLOAT_FEATURES | library.PIXELS
        cls = value.cls if is_ids(value) and name not in library.NOT_IDS else None
        if is_feature:
            cls = f"{value.cls}.{name}"
        elif value.cls == library.FEATURES and name == "input_ids":
            cls = library.ENCODING
        elif is_ids(value) and name == "attention_mask":
            cls = library.MASK
        made = Opaque(cls, value.sources, value.call)
        self.parts[id(value), name] = (value, made)
        return made

    def attribute_of_object(self, value: Object, name: str, node: ast.AST) -> Value:
        found = self.heap.get((value.id, name))
        if found is not None:
            return found
        if isinstance(value.cls, Class):
            member = value.cls.find(name)
            if isinstance(member, Function):
                return self.bind(value, member, node)
            if member is not None:
                return self.as_default(member, value, name, node)
        if name in library.INNER_ATTRIBUTES and self.kind(value) == "model":
            return value
        if name in _LENGTHS:
            return Opaque("length", value.sources)
        if name == "tokenizer" and self.kind(value) == "processor":
            return self.child(value, name, node, library.INNER_TOKENIZER)
        if value.is_outside or isinstance(value.cls, Class):
            return self.part_of(value, name, node)
        return self.part_of(value, name, node) if value.cls is not None else ANYTHING

    def as_default(self, member: Value, owner: Object, name: str, node: ast.AST) -> Value:
        """A class attribute read through an instance: what an instance holds may differ."""
        if isinstance(member, Opaque) and member.cls in library.FIELDS and member.call in self.calls:
            made = self.calls[member.call].arguments
            factory = made.get("default_factory")
            default = self.call(factory, Arguments([], {}), node) if factory is not None else made.get("default", 0)
            if "max_length" in made.keywords:
                # pydantic refuses what is longer.
                self.length_examined |= self.part_of(owner, name, node).sources
            return (
                self.as_default(default, owner, name, node) if default is not None else self.part_of(owner, name, node)
            )
        if isinstance(member, Constant):
            is_known = member.value is not None and member.value is not ...
            return Constant(member.value, member.node, may=True) if is_known else self.part_of(owner, name, node)
        return member

    def bind(self, receiver: Value, function: Function, node: ast.AST) -> Value:
        names = {
            decorator.name.rpartition(".")[2] for decorator in function.decorators if isinstance(decorator, Symbol)
        }
        if "staticmethod" in names:
            return function
        if "property" in names or "cached_property" in names:
            return self.call(Bound(receiver, function), Arguments([], {}), node)
        return Bound(receiver, function)

    def part_of(self, value: Object, name: str, node: ast.AST) -> Value:
        """An attribute, item or element that nobody in the program has set."""
        depth, parent = 0, value
        while parent.parent is not None:
            depth, parent = depth + 1, parent.parent
        return self.child(value, name, node) if depth < _DEEPEST_CHILD else Opaque(None, value.sources)

    def kind(self, value: Object) -> str | None:
        """What the object certainly is, by its class alone."""
        if isinstance(value.cls, str):
            return kind_of(value.cls)
        if isinstance(value.cls, Class):
            return self.kind_of_class(value.cls)
        return None

    def kind_of_class(self, cls: Class) -> str | None:
        for base in cls.library_bases():
            if base in library.MODULE_BASES or base in library.LIGHTNING_BASES or base.startswith("torch.nn."):
                return "model"
            kind = kind_of(base)
            if kind is not None:
                return kind
        return None

    # ------------------------------------------------------------ items and elements

    def item(self, value: Value, key: Value, node: ast.AST) -> Value:
        if isinstance(value, Tuple) and isinstance(key, Constant) and isinstance(key.value, int):
            return value.items[key.value] if -len(value.items) <= key.value < len(value.items) else ANYTHING
        if isinstance(value, Object):
            return self.item_of_object(value, key, node)
        if isinstance(value, Symbol):
            return Symbol(value.name) if value.name.startswith("typing.") else ANYTHING
        if isinstance(key, Constant):
            if key.value in _TELLS_LENGTH:
                self.length_examined |= value.sources
            elif key.value in library.ATTENTIONS or self.is_last_output(value, key.value):
                self.attentions_read |= value.sources
        if not isinstance(value, Opaque):
            return Opaque(None, self.flow(value))
        if value.cls == "length":
            return value
        if key.sources:
            found = Opaque(None, value.sources | key.sources, value.call)
            self.note_derived(found, "[]", value)
            return found
        return self.part_of_opaque(value, key.value if isinstance(key, Constant) else None)

    def is_last_output(self, value: Value, key: object) -> bool:
        """Whether it is the last part of a model's whole output that is taken: the attention maps, where they were asked for."""
        made = (
            self.calls.get(value.call) if key == -1 and isinstance(value, Opaque) and value.call is not None else None
        )
        return made is not None and made.name == "()" and made.result is value

    def item_of_object(self, value: Object, key: Value, node: ast.AST) -> Value:
        if isinstance(key, Constant):
            items = self.heap.get((value.id, "items"))
            if value.cls == "builtins.list" and isinstance(items, Tuple):
                return self.item(items, key, node)
            found = self.heap.get((value.id, f"[{key.value!r}]"))
            if found is not None:
                return found
            if value.is_outside:
                return self.part_of(value, f"[{key.value!r}]", node)
            if isinstance(value.cls, Class):
                return self.field_at(value, value.cls, key.value, node)
            if value.id not in self.escaped and self.known_keys(value) is not None:
                return ANYTHING
        each = self.heap.get((value.id, "each"))
        if each is not None:
            return self.vague(each)
        return self.part_of(value, "[]", node) if value.is_outside else ANYTHING

    def field_at(self, value: Object, cls: Class, index: object, node: ast.AST) -> Value:
        """A field of a named tuple by its position."""
        fields = cls.fields() if "typing.NamedTuple" in cls.library_bases() else []
        is_one = isinstance(index, int) and -len(fields) <= index < len(fields)
        return self.attribute(value, fields[index], node) if is_one and isinstance(index, int) else ANYTHING

    def vague(self, value: Value) -> Value:
        """One of a container's values, no longer known which: constants become possible ones."""
        if isinstance(value, Constant):
            return Constant(value.value, value.node, may=True)
        return value

    def iterate(self, value: Value, node: ast.AST) -> Value:
        """What a loop over the value binds."""
        if isinstance(value, Tuple):
            return self.join_all(list(value.items))
        if isinstance(value, Object):
            keys = self.known_keys(value) if value.cls == "builtins.dict" else None
            if keys:
                return self.join_all([Constant(key) for key in keys])
            each = self.heap.get((value.id, "each"))
            if each is not None:
                return each
            if value.is_outside or isinstance(value.cls, str):
                return self.part_of(value, "[]", node)
            return ANYTHING
        call = self.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
        found = self.iterate_call(value, call, node) if call is not None and isinstance(value, Opaque) else None
        if found is None:
            found = Opaque(library.ENCODING if is_ids(value) else None, self.flow(value))
            self.note_derived(found, "for", value)
        return found

    def iterate_call(self, value: Opaque, call: CallRecord, node: ast.AST) -> Value | None:
        """What a loop over a call's result binds, if more than its flow is known."""
        if value.cls == call.name:
            inner = [self.iterate(argument, node) for argument in call.arguments.positional]
            if call.name == "builtins.enumerate" and inner:
                return Tuple((ANYTHING, inner[0]))
            if call.name in {"builtins.zip", "itertools.zip_longest"}:
                return Tuple(tuple(inner))
            if inner and (call.name in _SAME_ELEMENTS or call.name.startswith("tqdm.")):
                return inner[0]
        if value.cls == "items" and call.receiver is not None:
            cls = library.ENCODING if is_ids(call.receiver) else None
            return Tuple((ANYTHING, Opaque(cls, self.flow(call.receiver), value.call)))
        if value.cls == "length":
            return value
        if value.cls in library.LOADERS and self.stacks_ids(call.arguments):
            return Opaque(library.ENCODING, self.flow(value))
        return None

    def stacks_ids(self, loader: Arguments) -> bool:
        """Whether a loader's batches are the ids that a dataset of the program holds, one item below the other."""
        dataset = loader.get("dataset", 0)
        each = self.heap.get((dataset.id, "each")) if isinstance(dataset, Object) else None
        return each is not None and loader.get("collate_fn") is None and self.ids_in(each) is not None

    def join_all(self, values: list[Value]) -> Value:
        if not values:
            return ANYTHING
        result = values[0]
        for value in values[1:_MOST_JOINED]:
            result = join(result, value)
        return result

    def known_items(self, value: Value) -> dict[str, Value] | None:
        """The items of a dictionary all of whose keys are known."""
        if not isinstance(value, Object) or value.cls != "builtins.dict":
            return None
        names = self.known_keys(value)
        if names is None:
            return None
        return {str(name): self.heap.get((value.id, f"[{name!r}]"), ANYTHING) for name in names}

    # ------------------------------------------------------------ targets

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.bind_name(target.id, value)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(self.evaluate(target.value), target.attr, value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.assign_items(target.elts, value, target)
        elif isinstance(target, ast.Subscript):
            owner, key = self.evaluate(target.value), self.evaluate(target.slice)
            if isinstance(key, Constant) and key.value == "labels":
                self.label(target, target, owner, value)
            self.assign_item(owner, key, value)
            if self.has_keys and type(key) is Opaque and self.is_dictionary(owner):
                self.record(target, "[]=", owner, Arguments([key], {}))
            if (
                self.has_labels
                and isinstance(owner, Opaque)
                and owner.call is not None
                and moved(target.slice) == "[:-1]"
            ):
                self.shifted |= {
                    owner.call for id in value.sources if id in self.calls and self.calls[id].name == "[1:]"
                }
        elif isinstance(target, ast.Starred):
            is_rest = isinstance(value, Object) and value.node is target
            self.assign(target.value, value if is_rest else Opaque(None, self.flow(value)))

    def is_dictionary(self, value: Value) -> bool:
        """Whether it certainly is a dictionary, and no tensor or frame that takes other keys."""
        cls = value.cls if isinstance(value, (Object, Opaque)) else None
        return cls == "builtins.dict" or cls in library.DICTIONARIES

    def bind_name(self, name: str, value: Value) -> None:
        frame = self.frame
        if name not in frame.outer:
            frame.locals[name] = value
            return
        owner = self.owner_of(name)
        if owner.scope < 0 and not frame.is_of_script:
            # Whoever calls this function may read it afterwards.
            self.returned |= self.flow(value) & self.calls.keys()
        known = owner.locals.get(name)
        owner.locals[name] = join(known, value) if known is not None and frame.is_in_a_branch else value

    def owner_of(self, name: str) -> Frame:
        """The frame whose variable the name is, where the function that runs assigns it."""
        frame = self.frame
        if name not in frame.outer:
            return frame
        owner = self.frames[frame.scope] if frame.scope >= 0 else frame
        while owner.scope >= 0 and name not in owner.locals:
            owner = self.frames[owner.scope]
        return owner

    def assign_items(self, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
        starred = any(isinstance(target, ast.Starred) for target in targets)
        items: tuple[Value, ...] | None = None
        if isinstance(value, Object):
            held = self.heap.get((value.id, "items"))
            value = held if isinstance(held, Tuple) else value
        if isinstance(value, Tuple):
            items = self.items_by_target(targets, value.items) if starred else value.items
            items = items if items is not None and len(items) == len(targets) else None
        for index, target in enumerate(targets):
            if items is not None:
                self.assign(target, items[index])
            else:
                self.assign(
                    target, self.item(value, Constant(index), node) if not starred else Opaque(None, self.flow(value))
                )

    def items_by_target(self, targets: list[ast.expr], items: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """`head, *tail = items`: what each target is given, the starred one a list."""
        at = next(index for index, target in enumerate(targets) if isinstance(target, ast.Starred))
        stop = len(items) - (len(targets) - at - 1)
        if stop < at:
            return None
        rest = self.make("builtins.list", targets[at])
        self.heap[rest.id, "items"] = Tuple(items[at:stop])
        self.heap[rest.id, "each"] = self.join_all([*items[at:stop]])
        return (*items[:at], rest, *items[stop:])

    def forget_item(self, owner: Value, key: Value) -> None:
        """`del owner[key]`, or `pop`: what is left of a list is not known by its positions."""
        for option, _ in options(owner):
            names = self.known_keys(option) if isinstance(option, Object) else None
            if not isinstance(option, Object):
                continue
            self.heap.forget((option.id, "items"))
            if isinstance(key, Constant):
                self.heap.forget((option.id, f"[{key.value!r}]"))
                if names is not None:
                    self.heap[option.id, "keys"] = Constant(tuple(name for name in names if name != key.value))

    def assign_attribute(self, owner: Value, name: str, value: Value, target: ast.Attribute | None = None) -> None:
        choices = options(owner)
        for option, _ in choices:
            if name in {"requires_grad", "data"}:
                self.change_parameter(option, name)
            if not isinstance(option, Object):
                if isinstance(option, Class):
                    option.namespace[name] = value
                elif isinstance(option, (Imported, Module)):
                    self.assign_member(option, name, value)
                elif isinstance(option, Opaque):
                    self.escaped |= self.flow(value) - option.sources
                else:
                    self.escape(value)
                continue
            key = (option.id, name)
            known = self.heap.get(key)
            self.heap[key] = value if len(choices) == 1 or known is None else join(known, value)
            self.used(option, "." + name)
            if isinstance(value, (Object, Tuple)):
                self.note_held(option, name, value, target)
            if isinstance(value, Object) and isinstance(option.cls, Class) and self.kind(option) == "model":
                # A part goes wherever the whole is moved.
                self.heap[value.id, "#device"] = ANYTHING
            if option.is_outside and isinstance(option.cls, Class):
                # Whoever has the instance may read it, just as a caller gets what is returned.
                kept = self.flow(value)
                self.returned |= kept & self.calls.keys()
                self.escaped |= kept - self.calls.keys()
            elif option.is_outside:
                self.escaped |= self.flow(value)
                self.examine_lengths([value])
            if option.is_outside:
                self.hand_out(value)

    def note_held(self, owner: Object, name: str, value: Object | Tuple, target: ast.Attribute | None) -> None:
        """Write down that an object holds a model, a layer or a tokenizer; that a module holds a container."""
        if isinstance(value, Tuple) or value.cls in _CONTAINERS:
            if isinstance(owner.cls, Class) and self.kind_of_class(owner.cls) == "model":
                id = value.id if isinstance(value, Object) else 0
                parts = self.parts_of_held.setdefault(id, []) if id else []
                parts += self.things_in(value)
                self.held_parts.setdefault((owner.id, name, id), HeldParts(owner, name, value, parts, target))
            return
        kind = self.kind(value)
        if kind in {"model", "tokenizer"}:
            self.held.setdefault(owner.id, {})[name] = value
        if kind in {"model", "module"}:
            self.layers_given.setdefault((owner.id, name, value.id), (owner, name, value))

    def things_in(self, value: Value, depth: int = 0) -> list[Value]:
        """What a container holds, and what the containers in it hold; anything else by itself."""
        found: list[Value] = []
        for option, _ in options(value):
            is_container = isinstance(option, Object) and option.cls in _CONTAINERS
            if depth > _DEEPEST_CONTAINER or not (is_container or isinstance(option, Tuple)):
                found.append(option)
                continue
            items = self.heap.get((option.id, "items"), option) if isinstance(option, Object) else option
            each = self.heap.get((option.id, "each")) if isinstance(option, Object) else None
            held = items.items if isinstance(items, Tuple) else (each,) if each is not None else ()
            found += [thing for item in held for thing in self.things_in(item, depth + 1)]
        return found

    def change_parameter(self, parameter: Value, name: str) -> None:
        """`parameter.requires_grad = ...` or `.data = ...`: then the model that it is one of holds what nobody knows."""
        if name == "requires_grad":
            self.frozen |= parameter.sources
            return
        for id in parameter.sources:
            given = self.calls.get(id)
            if given is not None and isinstance(given.receiver, Object):
                self.heap[given.receiver.id, "#dtype"] = ANYTHING

    def assign_item(self, owner: Value, key: Value, value: Value) -> None:
        for option, _ in options(owner):
            if not isinstance(option, Object):
                if isinstance(option, Opaque):
                    self.escaped |= self.flow(value) - option.sources
                    self.examine_lengths([value])
                    if not isinstance(key, Constant) or not isinstance(key.value, str):
                        self.overwritten |= option.sources
                continue
            each = self.heap.get((option.id, "each"))
            self.heap[option.id, "each"] = value if each is None else join(each, value)
            if option.id in self.parts_of_held:
                self.parts_of_held[option.id] += self.things_in(value)
            self.heap.forget((option.id, "items"))
            if isinstance(key, Constant):
                self.heap[option.id, f"[{key.value!r}]"] = value
                names = self.known_keys(option)
                if names is not None and key.value not in names:
                    self.heap[option.id, "keys"] = Constant((*names, key.value))
            else:
                for name in self.known_keys(option) or ():
                    known = self.heap.get((option.id, f"[{name!r}]"))
                    if known is not None:
                        self.heap[option.id, f"[{name!r}]"] = join(known, value)
                self.heap[option.id, "keys"] = ANYTHING
            if option.is_outside:
                if not isinstance(key, Constant):
                    self.overwritten.add(option.id)
                self.escaped |= self.flow(value)
                self.examine_lengths([value])
                self.hand_out(value)
