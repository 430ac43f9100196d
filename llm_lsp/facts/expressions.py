"""Expressions to values."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from llm_lsp.facts.events import Arguments
from llm_lsp.facts.machine import Machine
from llm_lsp.facts.store import Store
from llm_lsp.facts.values import (
    ANYTHING,
    NOTHING,
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
    union_of_sources,
)
from llm_lsp.knowledge import library

__all__ = ["Expressions", "is_ids"]

_BUILTINS = frozenset(dir(builtins))
_LENGTHS = frozenset({"shape", "size", "ndim"})
_TELLS_LENGTH = frozenset(
    {"num_truncated_tokens", "overflowing_tokens", "overflow_to_sample_mapping", "overflowing", "n_tokens", "length"}
)
_TEXTS = frozenset(
    {"text", "txt", "string", "document", "doc", "content", "page", "passage", "body", "article", "transcript", "raw"}
)
_DEEPEST_CHILD = 4
_MOST_JOINED = 64


class Expressions(Machine):
    """Evaluates expressions in the present state."""

    def evaluate(self, node: ast.expr) -> Value:
        if type(node) is ast.Name:
            # Four of ten expressions: spared the way through the table.
            value = self.frame.locals.get(node.id) or self.look_up(node.id)
            return self.resolve(value) if type(value) is Imported else value
        return _EVALUATE.get(type(node), Expressions.evaluate_children)(self, node)

    def evaluate_children(self, node: ast.expr) -> Value:
        """What has no rule of its own: its parts are evaluated, its result is derived from them."""
        values = [self.evaluate(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return Opaque(None, union_of_sources(values))

    # ------------------------------------------------------------ names

    def evaluate_constant(self, node: ast.Constant) -> Value:
        return Constant(node.value, node)

    def evaluate_name(self, node: ast.Name) -> Value:
        return self.look_up(node.id)

    def look_up(self, name: str) -> Value:
        frame = self.frame
        value = frame.locals.get(name)
        if value is not None:
            return value
        scope = frame.scope
        while scope >= 0:
            frame = self.frames[scope]
            value = frame.locals.get(name)
            if value is not None:
                return value
            scope = frame.scope
        if frame.id != 0:
            found = self.global_of(frame, name)
            if found is not None:
                return self.resolve(found) if isinstance(found, Imported) else found
        if name in _BUILTINS and not self.has_star_import:
            return Symbol("builtins." + name)
        return ANYTHING

    def evaluate_attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        if isinstance(value, Symbol):
            return Symbol(f"{value.name}.{name}")
        if isinstance(value, Module):
            return self.member(value, name)
        if name == "grad":
            self.frames_reading_gradients.add(self.frame.id)
        elif name in library.TELLS_GRAPH:
            self.escaped |= value.sources & self.graph_ids
        if isinstance(value, Object):
            return self.attribute_of_object(value, name, node)
        if isinstance(value, Class):
            found = value.find(name)
            return found if found is not None else ANYTHING
        if isinstance(value, Union):
            result: Value | None = None
            for option, _ in value.options:
                found = self.attribute(option, name, node)
                result = found if result is None else join(result, found)
            return result or ANYTHING
        if isinstance(value, Constant) and name == "value":
            return value  # a member of an enumeration: no constant of another kind has this attribute
        if not value.sources:
            return ANYTHING
        if name in _LENGTHS:
            return Opaque("length", self.without_graph(value.sources))
        if name in _TELLS_LENGTH:
            self.length_examined |= value.sources
        if name in library.NOT_DIFFERENTIABLE:
            return Opaque(None, self.without_graph(value.sources))
        return self.part_of_opaque(value, name)

    def part_of_opaque(self, value: Value, name: object) -> Value:
        """An attribute or item of something that is not followed: the features of a `BatchFeature` stay features."""
        if not isinstance(value, Opaque):
            return Opaque(None, value.sources)
        is_feature = value.cls == library.FEATURES and name in library.FLOAT_FEATURES | library.PIXELS
        is_kept = is_feature or (is_ids(value) and name not in library.NOT_IDS)
        cls = library.MASK if is_ids(value) and name == "attention_mask" else value.cls if is_kept else None
        return Opaque(f"{value.cls}.{name}" if is_feature else cls, value.sources, value.call)

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
        if value.is_outside or isinstance(value.cls, Class):
            return self.part_of(value, name, node)
        return self.part_of(value, name, node) if value.cls is not None else ANYTHING

    def as_default(self, member: Value, owner: Object, name: str, node: ast.AST) -> Value:
        """A class attribute read through an instance: what an instance holds may differ."""
        if isinstance(member, Opaque) and member.cls in library.FIELDS and member.call in self.calls:
            made = self.calls[member.call].arguments
            factory = made.get("default_factory")
            default = self.call(factory, Arguments([], {}), node) if factory is not None else made.get("default")
            if "max_length" in made.keywords:
                # pydantic refuses what is longer.
                self.length_examined |= self.part_of(owner, name, node).sources
            return (
                self.as_default(default, owner, name, node) if default is not None else self.part_of(owner, name, node)
            )
        if isinstance(member, Constant):
            return (
                Constant(member.value, member.node, may=True)
                if member.value is not None
                else self.part_of(owner, name, node)
            )
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
            return library.kind_of(value.cls)
        if isinstance(value.cls, Class):
            return self.kind_of_class(value.cls)
        return None

    def kind_of_class(self, cls: Class) -> str | None:
        for base in cls.library_bases():
            if base in library.MODULE_BASES or base in library.LIGHTNING_BASES or base.startswith("torch.nn."):
                return "model"
            kind = library.kind_of(base)
            if kind is not None:
                return kind
        return None

    # ------------------------------------------------------------ items

    def evaluate_subscript(self, node: ast.Subscript) -> Value:
        value = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            for bound in (node.slice.lower, node.slice.upper, node.slice.step):
                if bound is not None:
                    self.evaluate(bound)
            if node.slice.upper is not None:
                self.sliced |= self.flow(value)
                if node.slice.lower is None or _is_text(node.value):
                    self.cut |= self.flow(value)
            if isinstance(value, (Object, Constant)):
                return Opaque(None, self.flow(value))
            return value
        key = self.evaluate(node.slice)
        return self.item(value, key, node)

    def item(self, value: Value, key: Value, node: ast.AST) -> Value:
        if isinstance(value, Tuple) and isinstance(key, Constant) and isinstance(key.value, int):
            return value.items[key.value] if -len(value.items) <= key.value < len(value.items) else ANYTHING
        if isinstance(value, Object):
            if isinstance(key, Constant):
                if value.cls == "builtins.list" and isinstance(key.value, int):
                    items = self.heap.get((value.id, "items"))
                    if isinstance(items, Tuple):
                        return self.item(items, key, node)
                found = self.heap.get((value.id, f"[{key.value!r}]"))
                if found is not None:
                    return found
                if value.is_outside:
                    return self.part_of(value, f"[{key.value!r}]", node)
            each = self.heap.get((value.id, "each"))
            if each is not None:
                return self.vague(each)
            return self.part_of(value, "[]", node) if value.is_outside else ANYTHING
        if isinstance(value, Symbol):
            return Symbol(value.name) if value.name.startswith("typing.") else ANYTHING
        if isinstance(key, Constant) and key.value in _TELLS_LENGTH:
            self.length_examined |= value.sources
        if isinstance(value, Opaque) and value.cls == "length":
            return value
        if isinstance(value, Opaque) and key.sources:
            return Opaque(None, value.sources | key.sources, value.call)
        if isinstance(value, Opaque):
            return self.part_of_opaque(value, key.value if isinstance(key, Constant) else None)
        return Opaque(None, self.flow(value))

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
            each = self.heap.get((value.id, "each"))
            if each is not None:
                return each
            if value.is_outside or isinstance(value.cls, str):
                return self.part_of(value, "[]", node)
            return ANYTHING
        if isinstance(value, Opaque) and value.call is not None:
            call = self.calls.get(value.call)
            if call is not None and value.cls == call.name:
                inner = [self.iterate(argument, node) for argument in call.arguments.positional]
                if call.name == "builtins.enumerate" and inner:
                    return Tuple((ANYTHING, inner[0]))
                if call.name in {"builtins.zip", "itertools.zip_longest"}:
                    return Tuple(tuple(inner))
                if inner and (call.name in _SAME_ELEMENTS or call.name.startswith("tqdm.")):
                    return inner[0]
            if value.cls == "items" and call is not None and call.receiver is not None:
                cls = library.ENCODING if is_ids(call.receiver) else None
                return Tuple((ANYTHING, Opaque(cls, self.flow(call.receiver), value.call)))
        return Opaque(library.ENCODING if is_ids(value) else None, self.flow(value))

    def join_all(self, values: list[Value]) -> Value:
        if not values:
            return ANYTHING
        result = values[0]
        for value in values[1:_MOST_JOINED]:
            result = join(result, value)
        return result

    # ------------------------------------------------------------ containers

    def evaluate_tuple(self, node: ast.Tuple) -> Value:
        return Tuple(tuple(self.evaluate(item) for item in node.elts))

    def evaluate_list(self, node: ast.List | ast.Set) -> Value:
        made = self.make("builtins.list" if isinstance(node, ast.List) else "builtins.set", node)
        items = [self.evaluate(item) for item in node.elts]
        starred = any(isinstance(item, ast.Starred) for item in node.elts)
        if items:
            self.heap[made.id, "each"] = self.join_all(items)
        else:
            self.heap.forget((made.id, "each"))
        if not starred:
            self.heap[made.id, "items"] = Tuple(tuple(items))
        return made

    def evaluate_dict(self, node: ast.Dict) -> Value:
        made = self.make("builtins.dict", node)
        keys: list[object] = []
        is_known = True
        values: list[Value] = []
        for key, item in zip(node.keys, node.values):
            value = self.evaluate(item)
            values.append(value)
            name = None if key is None else self.evaluate(key)
            if isinstance(name, Constant):
                keys.append(name.value)
                self.heap[made.id, f"[{name.value!r}]"] = value
            else:
                is_known = False
        if values:
            self.heap[made.id, "each"] = self.join_all(values)
        self.heap[made.id, "keys"] = Constant(tuple(keys)) if is_known else ANYTHING
        return made

    def evaluate_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        locals_, loops, guards = self.frame.locals, self.frame.loops, self.frame.guards
        self.frame.locals = Store(self.trail)
        self.frame.locals.update(locals_)
        for generator in node.generators:
            self.assign(generator.target, self.iterate(self.evaluate(generator.iter), generator.target))
            self.frame.loops = (*self.frame.loops, node)
            for test in generator.ifs:
                self.evaluate(test)
                self.frame.guards = (*self.frame.guards, (test, True))
        if isinstance(node, ast.DictComp):
            self.evaluate(node.key)
            element = self.evaluate(node.value)
        else:
            element = self.evaluate(node.elt)
        self.frame.locals, self.frame.loops, self.frame.guards = locals_, loops, guards
        made = self.make("builtins.dict" if isinstance(node, ast.DictComp) else "builtins.list", node)
        self.heap[made.id, "each"] = element
        self.heap[made.id, "keys"] = ANYTHING
        return made

    # ------------------------------------------------------------ operators

    def evaluate_operation(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, Constant) and isinstance(right, (Constant, Tuple)):
            computed = _compute(node.op, left, right)
            if computed is not None:
                return computed
        sources = self.flow(left) | self.flow(right)
        if not sources:
            return ANYTHING
        if isinstance(node.op, ast.Add) and (is_ids(left) or is_ids(right)):
            return Opaque(library.ENCODING, sources)
        lengths = any(isinstance(side, Opaque) and side.cls == "length" for side in (left, right))
        return Opaque("length" if lengths and isinstance(node.op, (ast.Add, ast.Sub)) else None, sources)

    def evaluate_unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value, Constant) and isinstance(value.value, (int, float)):
            return Constant(-value.value, node, may=value.may)
        if isinstance(node.op, ast.Not):
            return Opaque(None, self.without_graph(value.sources))
        return Opaque(None, value.sources)

    def evaluate_choice(self, node: ast.BoolOp) -> Value:
        value = self.evaluate(node.values[0])
        for following in node.values[1:]:
            other = self.evaluate(following)
            if isinstance(node.op, ast.And):
                value = join(value, other)
            elif isinstance(value, Constant):
                if value.value:
                    continue
                value = join(ANYTHING, other) if value.may else other
            elif isinstance(value, (Function, Class, Tuple)):
                continue
            else:
                value = join(value, other, node.values[0])
        return value

    def evaluate_comparison(self, node: ast.Compare) -> Value:
        values = [self.evaluate(node.left)]
        for other in node.comparators:
            values.append(self.evaluate(other))
        found = NOTHING
        for value in values:
            sources = self.flow(value)
            if isinstance(value, Opaque) and value.cls == "length":
                self.length_examined |= sources
            found |= sources
        if len(values) == 2:
            known = _compare(node.ops[0], values[0], values[1])
            if known is not None:
                return known
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return ANYTHING
        cls = library.MASK if isinstance(node.ops[0], ast.NotEq) and any(is_ids(value) for value in values) else None
        return Opaque(cls, self.without_graph(found)) if found else ANYTHING

    def evaluate_conditional(self, node: ast.IfExp) -> Value:
        self.evaluate(node.test)
        known = self.literal(node.test)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse)
        guards = self.frame.guards
        self.frame.guards = (*guards, (node.test, True))
        first = self.evaluate(node.body)
        self.frame.guards = (*guards, (node.test, False))
        second = self.evaluate(node.orelse)
        self.frame.guards = guards
        return join(first, second, node.test)

    def literal(self, test: ast.expr) -> bool | None:
        """How a test comes out where its own text decides; defaults and configuration never decide."""
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.literal(test.operand)
            return None if inner is None else not inner
        if isinstance(test, (ast.Name, ast.Attribute)):
            name = test.id if isinstance(test, ast.Name) else test.attr
            if name == "TYPE_CHECKING":
                return False
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__":
            # An imported module does not run as a script; this one does, besides being imported.
            return None if self.module_frame().id == 0 else False
        return self.decided_by_caller(test)

    def decided_by_caller(self, test: ast.expr) -> bool | None:
        """How a test comes out that reads only what this call of a function was given."""
        frame = self.frame
        if frame.call is None or frame.function is None or not isinstance(test, (ast.Name, ast.Compare)):
            return None
        names = [test] if isinstance(test, ast.Name) else [test.left, *test.comparators]
        if not all(
            isinstance(name, ast.Constant) or (isinstance(name, ast.Name) and name.id in frame.locals) for name in names
        ):
            return None
        value = self.evaluate(test)
        return value.value if isinstance(value, Constant) and not value.may and isinstance(value.value, bool) else None

    # ------------------------------------------------------------ text

    def evaluate_joined(self, node: ast.JoinedStr) -> Value:
        parts: list[str] | None = []
        may = False
        sources = NOTHING
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            value = self.evaluate(inner)
            sources |= self.flow(value)
            if isinstance(value, Opaque) and value.cls == "length":
                self.length_examined |= value.sources
            plain = not isinstance(part, ast.FormattedValue) or (part.format_spec is None and part.conversion == -1)
            if parts is not None and plain and isinstance(value, Constant) and isinstance(value.value, (str, int)):
                parts.append(str(value.value))
                may = may or value.may
            else:
                parts = None
        return Constant("".join(parts), node, may=may) if parts is not None else Opaque(None, sources)

    # ------------------------------------------------------------ the rest

    def evaluate_lambda(self, node: ast.Lambda) -> Value:
        function = Function(node, self.frame.id, None, (), self.defaults_of(node.args))
        self.functions[node] = function
        return function

    def defaults_of(self, arguments: ast.arguments) -> dict[str, Value]:
        found: dict[str, Value] = {}
        positional = [*arguments.posonlyargs, *arguments.args]
        for argument, default in zip(reversed(positional), reversed(arguments.defaults)):
            found[argument.arg] = self.evaluate(default)
        for argument, maybe in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if maybe is not None:
                found[argument.arg] = self.evaluate(maybe)
        return found

    def evaluate_walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def evaluate_await(self, node: ast.Await) -> Value:
        return self.evaluate(node.value)

    def evaluate_starred(self, node: ast.Starred) -> Value:
        return Opaque(None, self.flow(self.evaluate(node.value)))

    def evaluate_yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        if node.value is not None:
            value = self.evaluate(node.value)
            self.returned |= self.flow(value)
            self.hand_out(value)
            yielded = self.iterate(value, node) if isinstance(node, ast.YieldFrom) else value
            self.leave(yielded)
        return ANYTHING

    def evaluate_call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Attribute):
            receiver = self.evaluate(function.value)
            behind = self.behind(receiver, function.value)
            if behind is not None:
                self.used(behind, function.attr)
                self.change_mode(behind, function.attr, node)
            return self.call_method(receiver, function.attr, self.arguments(node), node)
        callee = self.evaluate(function)
        behind = self.behind(callee, function)
        if behind is None:
            return self.call(callee, self.arguments(node), node)
        result = self.call(behind, self.arguments(node), node)
        return Opaque(None, result.sources | callee.sources, result.call if isinstance(result, Opaque) else None)

    def change_mode(self, module: Object, method: str, node: ast.Call) -> None:
        """`eval()` and `train()` of something that may be a module."""
        if method == "eval":
            self.heap[module.id, "#training"] = Constant(False)
        elif method == "train":
            self.heap[module.id, "#training"] = ANYTHING if node.args or node.keywords else Constant(True)

    def arguments(self, node: ast.Call) -> Arguments:
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        spread: list[Value] = []
        is_complete = True
        for item in node.args:
            if isinstance(item, ast.Starred):
                value = self.evaluate(item.value)
                if isinstance(value, Tuple):
                    positional.extend(value.items)
                    continue
                spread.append(value)
                is_complete = False
            else:
                positional.append(self.evaluate(item))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
                continue
            known = self.known_items(value)
            if known is None:
                spread.append(value)
                is_complete = False
            else:
                keywords.update(known)
        return Arguments(positional, keywords, tuple(spread), is_complete=is_complete)

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
            self.assign_attribute(self.evaluate(target.value), target.attr, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.assign_items(target.elts, value, target)
        elif isinstance(target, ast.Subscript):
            self.assign_item(self.evaluate(target.value), self.evaluate(target.slice), value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Opaque(None, self.flow(value)))

    def bind_name(self, name: str, value: Value) -> None:
        frame = self.frame
        if name not in frame.outer:
            frame.locals[name] = value
            return
        owner = self.frames[frame.scope] if frame.scope >= 0 else frame
        while owner.scope >= 0 and name not in owner.locals:
            owner = self.frames[owner.scope]
        known = owner.locals.get(name)
        owner.locals[name] = value if known is None or not frame.guards else join(known, value)

    def assign_items(self, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
        starred = any(isinstance(target, ast.Starred) for target in targets)
        items: tuple[Value, ...] | None = None
        if isinstance(value, Object):
            held = self.heap.get((value.id, "items"))
            value = held if isinstance(held, Tuple) else value
        if isinstance(value, Tuple) and not starred and len(value.items) == len(targets):
            items = value.items
        for index, target in enumerate(targets):
            if items is not None:
                self.assign(target, items[index])
            else:
                self.assign(
                    target, self.item(value, Constant(index), node) if not starred else Opaque(None, self.flow(value))
                )

    def assign_attribute(self, owner: Value, name: str, value: Value) -> None:
        choices = options(owner)
        for option, _ in choices:
            if name == "requires_grad":
                self.frozen |= option.sources
            if not isinstance(option, Object):
                if isinstance(option, Class):
                    option.namespace[name] = value
                elif isinstance(option, Opaque):
                    self.escaped |= self.flow(value) - option.sources
                else:
                    self.escape(value)
                continue
            key = (option.id, name)
            known = self.heap.get(key)
            self.heap[key] = value if len(choices) == 1 or known is None else join(known, value)
            self.used(option, "." + name)
            if isinstance(value, Object) and self.kind(value) in {"model", "tokenizer"}:
                self.held.setdefault(option.id, {})[name] = value
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
            if option.is_outside:
                self.hand_out(value)

    def assign_item(self, owner: Value, key: Value, value: Value) -> None:
        for option, _ in options(owner):
            if not isinstance(option, Object):
                if isinstance(option, Opaque):
                    self.escaped |= self.flow(value) - option.sources
                continue
            each = self.heap.get((option.id, "each"))
            self.heap[option.id, "each"] = value if each is None else join(each, value)
            self.heap.forget((option.id, "items"))
            if isinstance(key, Constant):
                self.heap[option.id, f"[{key.value!r}]"] = value
                names = self.known_keys(option)
                if names is not None and key.value not in names:
                    self.heap[option.id, "keys"] = Constant((*names, key.value))
            else:
                self.heap[option.id, "keys"] = ANYTHING
            if option.is_outside:
                self.escaped |= self.flow(value)
                self.hand_out(value)


_SAME_ELEMENTS = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed", "builtins.iter", "builtins.set", "itertools.chain", "itertools.islice", "itertools.cycle"})  # fmt: skip


def is_ids(value: Value) -> bool:
    """Whether it holds the ids of tokens."""
    return isinstance(value, Opaque) and value.cls == library.ENCODING


def _is_text(node: ast.expr) -> bool:
    """Whether what is sliced is a text, by its name: a slice of it is a piece, not some of many texts."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.rpartition("_")[2] in _TEXTS


def _compare(operator: ast.cmpop, left: Value, right: Value) -> Constant | None:
    """How a comparison certainly comes out."""
    if isinstance(operator, (ast.Is, ast.IsNot)) and isinstance(right, Constant) and right.value is None:
        if isinstance(left, Constant) and not left.may:
            is_none = left.value is None
        elif isinstance(left, (Function, Class, Tuple, Symbol)) or (isinstance(left, Object) and not left.is_outside):
            is_none = False
        else:
            return None
        return Constant(is_none is isinstance(operator, ast.Is))
    if not isinstance(left, Constant) or not isinstance(right, Constant) or left.may or right.may:
        return None
    if isinstance(operator, (ast.Eq, ast.NotEq)) and isinstance(left.value, (str, int, bool)):
        return Constant((left.value == right.value) is isinstance(operator, ast.Eq))
    return None


def _compute(operator: ast.operator, left: Constant, right: Constant | Tuple) -> Constant | None:
    may = left.may or (isinstance(right, Constant) and right.may)
    first = left.value
    if isinstance(right, Tuple):
        items = right.items
        if (
            isinstance(operator, ast.Mod)
            and isinstance(first, str)
            and all(isinstance(item, Constant) for item in items)
        ):
            return _format(first, tuple(item.value for item in items if isinstance(item, Constant)), may=True)
        return None
    second = right.value
    if isinstance(first, str):
        if isinstance(operator, ast.Add) and isinstance(second, str):
            return Constant(first + second, may=may)
        if isinstance(operator, ast.Mod) and isinstance(second, (str, int)):
            return _format(first, (second,), may=may)
        if isinstance(operator, ast.Div) and isinstance(second, str):
            return Constant(f"{first}/{second}", may=may)
        return None
    if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
        return None
    if isinstance(operator, ast.Add):
        return Constant(first + second, may=may)
    if isinstance(operator, ast.Sub):
        return Constant(first - second, may=may)
    if isinstance(operator, ast.Mult):
        return Constant(first * second, may=may)
    if isinstance(operator, (ast.FloorDiv, ast.Div)) and second:
        return Constant(first // second if isinstance(operator, ast.FloorDiv) else first / second, may=may)
    return None


def _format(pattern: str, values: tuple[object, ...], *, may: bool) -> Constant | None:
    if len(pattern) > 1_000:
        return None
    try:
        return Constant(pattern % values, may=may)
    except (TypeError, ValueError):
        return None


_EVALUATE: dict[type[ast.AST], Callable[[Expressions, Any], Value]] = {
    ast.Constant: Expressions.evaluate_constant,
    ast.Name: Expressions.evaluate_name,
    ast.Attribute: Expressions.evaluate_attribute,
    ast.Subscript: Expressions.evaluate_subscript,
    ast.Tuple: Expressions.evaluate_tuple,
    ast.List: Expressions.evaluate_list,
    ast.Set: Expressions.evaluate_list,
    ast.Dict: Expressions.evaluate_dict,
    ast.ListComp: Expressions.evaluate_comprehension,
    ast.SetComp: Expressions.evaluate_comprehension,
    ast.GeneratorExp: Expressions.evaluate_comprehension,
    ast.DictComp: Expressions.evaluate_comprehension,
    ast.BinOp: Expressions.evaluate_operation,
    ast.UnaryOp: Expressions.evaluate_unary,
    ast.BoolOp: Expressions.evaluate_choice,
    ast.Compare: Expressions.evaluate_comparison,
    ast.IfExp: Expressions.evaluate_conditional,
    ast.JoinedStr: Expressions.evaluate_joined,
    ast.Lambda: Expressions.evaluate_lambda,
    ast.NamedExpr: Expressions.evaluate_walrus,
    ast.Await: Expressions.evaluate_await,
    ast.Starred: Expressions.evaluate_starred,
    ast.Yield: Expressions.evaluate_yield,
    ast.YieldFrom: Expressions.evaluate_yield,
    ast.Call: Expressions.evaluate_call,
}
