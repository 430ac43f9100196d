"""Expressions to values."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from llm_lsp.facts.access import Access, is_ids
from llm_lsp.facts.constants import (
    Alternatives,
    compare,
    compute,
    compute_options,
    part_of_text,
    text_of_parts,
    with_part,
)
from llm_lsp.facts.events import NO_ARGUMENTS, Arguments
from llm_lsp.facts.machine import OFF, ON
from llm_lsp.facts.store import Store
from llm_lsp.facts.values import (
    ANYTHING,
    NOTHING,
    Class,
    Constant,
    Function,
    Imported,
    Object,
    Opaque,
    Symbol,
    Tuple,
    Union,
    Value,
    join,
    union_of_sources,
)
from llm_lsp.knowledge import library

__all__ = ["Expressions"]

_BUILTINS = frozenset(dir(builtins))
# What a class is compared with for each expression: a name of this module is found in half the time.
_Name, _Attribute, _Call, _Constant = ast.Name, ast.Attribute, ast.Call, ast.Constant
_TEXTS = frozenset(
    {"text", "txt", "string", "document", "doc", "content", "page", "passage", "body", "article", "transcript", "raw"}
)


class Expressions(Access):
    """Evaluates expressions in the present state."""

    __slots__ = ()

    def evaluate(self, node: ast.expr) -> Value:
        # Nine of ten expressions are one of these: spared the way through the table.
        if type(node) is _Name:
            value = self.frame.locals.get(node.id) or self.look_up(node.id)
            return self.resolve(value) if type(value) is Imported else value
        if type(node) is _Attribute:
            return self.attribute(self.evaluate(node.value), node.attr, node)
        if type(node) is _Call:
            return self.evaluate_call(node)
        if type(node) is _Constant:
            return self.constants.get(node) or self.constants.setdefault(node, Constant(node.value, node))
        return _EVALUATE.get(type(node), Expressions.evaluate_children)(self, node)

    def evaluate_children(self, node: ast.expr) -> Value:
        """What has no rule of its own: its parts are evaluated, its result is derived from them."""
        values = [self.evaluate(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return Opaque(None, union_of_sources(values))

    # ------------------------------------------------------------ names

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

    # ------------------------------------------------------------ items

    def evaluate_subscript(self, node: ast.Subscript) -> Value:
        value = self.evaluate(node.value)
        found = self.subscript_of(value, node)
        return self.all_but_one(value, found, node) if self.has_labels else found

    def subscript_of(self, value: Value, node: ast.Subscript) -> Value:
        if _begins_later(node.slice):
            self.note_trimming(value, node)
        if isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [None if end is None else self.evaluate(end) for end in ends]
            if node.slice.upper is not None:
                self.sliced |= self.flow(value)
                if node.slice.lower is None or _is_text(node.value):
                    self.cut |= self.flow(value)
            if isinstance(value, (Object, Constant)):
                return part_of_text(value, bounds) or Opaque(None, self.flow(value))
            return self.ids_until(value, node, node.slice)
        key = self.evaluate(node.slice)
        if isinstance(node.slice, ast.Tuple) and is_ids(value) and any(map(_has_end, node.slice.elts)):
            self.sliced |= self.flow(value)
            return self.ids_until(self.item(value, key, node), node, node.slice.elts[-1])
        return self.item(value, key, node)

    def ids_until(self, value: Value, node: ast.Subscript, part: ast.expr) -> Value:
        """`ids[:n]` of a written number: written down as a call, so that it is seen where the ids go."""
        if not is_ids(value) or not isinstance(part, ast.Slice) or part.lower is not None or part.upper is None:
            return value
        stop = self.evaluate(part.upper)
        if not isinstance(stop, Constant) or not isinstance(value, Opaque):
            return value
        call = self.record(node, "[:]", None, Arguments([], {"stop": stop}))
        return Opaque(value.cls, value.sources | {call.id}, value.call)

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
        labelled: tuple[ast.expr, Value] | None = None
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.evaluate(item)
            if key is None:
                held = self.spread_into(made, keys, value)
                is_known = is_known and held is not None
                values += [value] if held is None else held
                continue
            values.append(value)
            name = self.evaluate(key)
            if isinstance(name, Constant):
                keys.append(name.value)
                self.heap[made.id, f"[{name.value!r}]"] = value
                if name.value == "labels":
                    labelled = item, value
            else:
                is_known = False
        if values:
            self.heap[made.id, "each"] = self.join_all(values)
        self.heap[made.id, "keys"] = Constant(tuple(keys)) if is_known else ANYTHING
        if labelled is not None:
            self.label(node, labelled[0], made, labelled[1])
        self.answered |= self.said_in(made, keys)
        return made

    def spread_into(self, made: Object, keys: list[object], value: Value) -> list[Value] | None:
        """`{**value}`: its items, where they are known; else any key that was there before may be another's now."""
        known = self.known_keys(value) if isinstance(value, Object) and value.cls == "builtins.dict" else None
        if known is None or not isinstance(value, Object):
            for key in keys:
                self.heap.forget((made.id, f"[{key!r}]"))
            return None
        items: list[Value] = []
        for key in known:
            items.append(self.heap.get((value.id, f"[{key!r}]"), ANYTHING))
            self.heap[made.id, f"[{key!r}]"] = items[-1]
            keys += [] if key in keys else [key]
        return items

    def evaluate_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        locals_, loops, guards = self.frame.locals, self.frame.loops, self.frame.guards
        self.frame.locals = Store(self.trail)
        self.frame.locals.update(locals_)
        for generator in node.generators:
            iterable = self.evaluate(generator.iter)
            self.note_iteration(generator.iter, iterable)
            self.assign(generator.target, self.iterate(iterable, generator.target))
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
        if isinstance(left, (Constant, Union)):
            computed = (
                compute(node.op, left, right)
                if isinstance(left, Constant) and isinstance(right, (Constant, Tuple))
                else compute_options(node.op, left, right)
            )
            if computed is not None:
                return computed
        elif isinstance(left, Object) and isinstance(right, Object):
            joined = self.joined(node, left, right)
            if joined is not None:
                return joined
        sources = self.flow(left) | self.flow(right)
        if not sources:
            return ANYTHING
        if isinstance(node.op, ast.Add) and (is_ids(left) or is_ids(right)):
            return Opaque(library.ENCODING, sources)
        is_length = isinstance(node.op, (ast.Add, ast.Sub)) and (_is_length(left) or _is_length(right))
        result = Opaque("length" if is_length else None, sources)
        self.note_derived(result, "", left, right)
        return result

    def joined(self, node: ast.BinOp, left: Object, right: Object) -> Value | None:
        """`known | other` of two dictionaries, `[a] + [b]` of two lists, whose items are all known."""
        if isinstance(node.op, ast.BitOr) and left.cls == right.cls == "builtins.dict":
            made = self.make("builtins.dict", node)
            keys: list[object] = []
            items = [self.spread_into(made, keys, side) for side in (left, right)]
            if None not in items:
                self.heap[made.id, "each"] = self.join_all([item for held in items for item in held or ()])
                self.heap[made.id, "keys"] = Constant(tuple(keys))
                return made
        if isinstance(node.op, ast.Add) and left.cls == right.cls == "builtins.list":
            held = [self.heap.get((side.id, "items")) for side in (left, right)]
            known = [item for one in held if isinstance(one, Tuple) for item in one.items]
            if all(isinstance(one, Tuple) for one in held) and known:
                made = self.make("builtins.list", node)
                self.heap[made.id, "each"] = self.join_all(known)
                self.heap[made.id, "items"] = Tuple(tuple(known))
                return made
        return None

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
        values = [self.evaluate(side) for side in (node.left, *node.comparators)]
        found = NOTHING
        for value in values:
            sources = self.flow(value)
            if isinstance(value, Opaque) and value.cls == "length":
                self.length_examined |= sources
            found |= sources
        if self.has_decodes and isinstance(node.ops[0], ast.Eq):
            self.note_comparison(values)
        if len(values) == 2:
            known = compare(node.ops[0], values[0], values[1])
            if known is not None:
                return known
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return ANYTHING
        cls = library.MASK if isinstance(node.ops[0], ast.NotEq) and any(is_ids(value) for value in values) else None
        return Opaque(cls, self.without_graph(found)) if found else ANYTHING

    def evaluate_conditional(self, node: ast.IfExp) -> Value:
        known = self.literal(node.test, self.evaluate(node.test))
        if known is not None:
            return self.evaluate(node.body if known else node.orelse)
        guards = self.frame.guards
        self.frame.guards = (*guards, (node.test, True))
        first = self.evaluate(node.body)
        self.frame.guards = (*guards, (node.test, False))
        second = self.evaluate(node.orelse)
        self.frame.guards = guards
        return join(first, second, node.test)

    def literal(self, test: ast.expr, value: Value | None) -> bool | None:
        """How a test comes out where its own text decides; defaults and configuration never decide.

        `value` is what the test was evaluated to, if it was.
        """
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.literal(test.operand, None)
            return None if inner is None else not inner
        if isinstance(test, (ast.Name, ast.Attribute)):
            name = test.id if isinstance(test, ast.Name) else test.attr
            if name == "TYPE_CHECKING":
                return False
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__":
            # An imported module does not run as a script; this one does, besides being imported.
            return None if self.module_frame().id == 0 else False
        return self.decided_by_caller(test, value)

    def decided_by_caller(self, test: ast.expr, value: Value | None) -> bool | None:
        """How a test comes out that reads only what this call of a function was given."""
        frame = self.frame
        if frame.call is None or frame.function is None or not isinstance(test, (ast.Name, ast.Compare)):
            return None
        if value is not None and type(value) is not Constant:
            return None
        names = [test] if isinstance(test, ast.Name) else [test.left, *test.comparators]
        if not all(
            isinstance(name, ast.Constant) or (isinstance(name, ast.Name) and name.id in frame.locals) for name in names
        ):
            return None
        value = value or self.evaluate(test)
        return value.value if isinstance(value, Constant) and not value.may and isinstance(value.value, bool) else None

    # ------------------------------------------------------------ text

    def evaluate_joined(self, node: ast.JoinedStr) -> Value:
        made: Alternatives | None = [("", (), False)]
        sources = NOTHING
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            value = self.evaluate(inner)
            sources |= self.flow(value)
            if isinstance(value, Opaque) and value.cls == "length":
                self.length_examined |= value.sources
            if made is not None:
                made = with_part(made, part, value)
        return text_of_parts(made, node) if made else Opaque(None, sources)

    # ------------------------------------------------------------ the rest

    def evaluate_lambda(self, node: ast.Lambda) -> Value:
        function = Function(node, self.frame.id, None, (), self.defaults_of(node.args))
        self.functions[node] = function
        return function

    def defaults_of(self, arguments: ast.arguments) -> dict[str, Value]:
        found: dict[str, Value] = {}
        positional = [*arguments.posonlyargs, *arguments.args]
        for argument, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
            found[argument.arg] = self.evaluate(default)
        for argument, maybe in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
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
        self.note_yield()
        if node.value is not None:
            value = self.evaluate(node.value)
            self.returned |= self.flow(value)
            self.hand_out(value)
            if isinstance(node, ast.YieldFrom):
                self.note_iteration(node.value, value)
            yielded = self.iterate(value, node) if isinstance(node, ast.YieldFrom) else value
            self.leave(yielded)
        return ANYTHING

    def evaluate_call(self, node: ast.Call) -> Value:
        function = node.func
        if type(function) is ast.Attribute:
            receiver = self.evaluate(function.value)
            behind = self.behind(receiver, function.value) if type(receiver) is Opaque else None
            if behind is not None:
                self.used(behind, function.attr)
                self.change_mode(behind, function.attr, node)
            return self.call_method(receiver, function.attr, self.arguments(node), node)
        callee = self.evaluate(function)
        behind = self.behind(callee, function) if type(callee) is Opaque else None
        if behind is None:
            return self.call(callee, self.arguments(node), node)
        result = self.call(behind, self.arguments(node), node)
        return Opaque(None, result.sources | callee.sources, result.call if isinstance(result, Opaque) else None)

    def change_mode(self, module: Object, method: str, node: ast.Call) -> None:
        """`eval()` and `train()` of something that may be a module."""
        if method in {"eval", "train"}:
            self.note_switch(module, method, node)
        if method == "eval":
            self.heap[module.id, "#training"] = OFF
        elif method == "train":
            self.heap[module.id, "#training"] = ANYTHING if node.args or node.keywords else ON

    def arguments(self, node: ast.Call) -> Arguments:
        if not node.args and not node.keywords:
            return NO_ARGUMENTS
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        spread: list[Value] = []
        is_complete = True
        for item in node.args:
            if type(item) is ast.Starred:
                value = self.evaluate(item.value)
                if isinstance(value, Tuple):
                    positional.extend(value.items)
                    continue
                spread.append(value)
                is_complete = False
            elif is_complete:
                positional.append(self.evaluate(item))
            else:
                # Behind `*values` nobody knows which position it has.
                spread.append(self.evaluate(item))
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

    # ------------------------------------------------------------ targets


def _is_length(value: Value) -> bool:
    return isinstance(value, Opaque) and value.cls == "length"


def _has_end(part: ast.expr) -> bool:
    """Whether a part of `[:, a:b]` ends somewhere: not `[:, :-1]`, which is one token less."""
    upper = part.upper if isinstance(part, ast.Slice) else None
    return upper is not None and not isinstance(upper, ast.UnaryOp)


def _begins_later(part: ast.expr) -> bool:
    """Whether it is `[n:]`, or `[..., n:]`, of more than one that is left out."""
    last = part.elts[-1] if isinstance(part, ast.Tuple) and part.elts else part
    lower = last.lower if isinstance(last, ast.Slice) else None
    return lower is not None and not (isinstance(lower, ast.Constant) and lower.value in {0, 1})


def _is_text(node: ast.expr) -> bool:
    """Whether what is sliced is a text, by its name: a slice of it is a piece, not some of many texts."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.rpartition("_")[2] in _TEXTS


_EVALUATE: dict[type[ast.AST], Callable[[Expressions, Any], Value]] = {
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
}
