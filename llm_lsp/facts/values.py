"""What is known of an expression.

A value is one of the classes below. All are immutable; what changes over time (an attribute, a mode, the items of a
list) lives in the heap under the id of an `Object`.

`sources` are the ids of the calls and of the outside objects that a value was computed from. They answer both
"does this loss come from that forward?" and "was the length of this text looked at?". An id is unique in a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

__all__ = [
    "ANYTHING",
    "NOTHING",
    "Bound",
    "Class",
    "Condition",
    "Constant",
    "Function",
    "Imported",
    "Module",
    "Object",
    "Opaque",
    "Partial",
    "Sources",
    "Symbol",
    "Tuple",
    "Union",
    "Value",
    "ids_of_objects",
    "join",
    "one_of",
    "options",
    "union_of_sources",
]

Sources = frozenset[int]
NOTHING: Sources = frozenset()
OVERFLOW = 0
"""The source of a value that was computed from more than is worth following: its flow is unknown."""
_MOST_SOURCES = 64
_MOST_OPTIONS = 4

Condition = tuple[ast.expr, bool]
"""A test and how it came out."""


class Value:
    """What is known of an expression."""

    __slots__ = ("sources",)

    sources: Sources


class Opaque(Value):
    """Something of which only the class and what it was computed from may be known."""

    __slots__ = ("call", "cls")

    def __init__(self, cls: str | None = None, sources: Sources = NOTHING, call: int | None = None) -> None:
        self.cls = cls
        """A qualified name, or None."""
        self.sources = sources
        self.call = call
        """The id of the call that returned it, where that call was recorded."""


ANYTHING = Opaque()


class Constant(Value):
    """A value that is written in the program."""

    __slots__ = ("may", "node", "value")

    def __init__(self, value: object, node: ast.expr | None = None, *, may: bool = False) -> None:
        self.value = value
        self.node = node
        """Where it is written; None for the result of an operation on constants."""
        self.may = may
        """A default that a caller, a user or the environment may replace."""
        self.sources = NOTHING


class Symbol(Value):
    """A module, class, function or constant of a library, by qualified name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
        self.sources = NOTHING


class Imported(Symbol):
    """A name that an import binds to something outside the known libraries; what it is shows when it is needed."""

    __slots__ = ("attribute", "importer", "module")

    def __init__(self, name: str, module: str, attribute: str | None, importer: str) -> None:
        super().__init__(name)
        self.module = module
        """As the import writes it, with leading dots."""
        self.attribute = attribute
        self.importer = importer
        """The path of the module that imports it."""


class Module(Value):
    """A module of the project."""

    __slots__ = ("frame", "importer", "module", "name")

    def __init__(self, frame: int, name: str, module: str, importer: str) -> None:
        self.frame = frame
        """The id of the frame in which it has run."""
        self.name = name
        self.module = module
        """As an import in `importer` writes it."""
        self.importer = importer
        self.sources = NOTHING


class Function(Value):
    """A function or lambda of the program, with the frame that it sees."""

    __slots__ = ("decorators", "defaults", "frame", "node", "owner")

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        frame: int,
        owner: Class | None,
        decorators: tuple[Value, ...],
        defaults: dict[str, Value],
    ) -> None:
        self.node = node
        self.frame = frame
        self.owner = owner
        self.decorators = decorators
        self.defaults = defaults
        self.sources = NOTHING

    def decorated_by(self, decorator: Value) -> Function:
        """The same function, under one more decorator."""
        return Function(self.node, self.frame, self.owner, (*self.decorators, decorator), self.defaults)

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def is_group(self) -> bool:
        """Whether click made a group of commands of it, and it does nothing itself that they would find done."""
        is_idle = not isinstance(self.node, ast.Lambda) and all(
            isinstance(step, ast.Pass) or (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
            for step in self.node.body
        )
        return is_idle and any(isinstance(made, Opaque) and made.cls == "click.group" for made in self.decorators)


class Class(Value):
    """A class of the program."""

    __slots__ = ("_ancestors", "bases", "decorators", "namespace", "node")

    def __init__(self, node: ast.ClassDef, bases: tuple[Value, ...], decorators: tuple[Value, ...]) -> None:
        self.node = node
        self.bases = bases
        self.decorators = decorators
        self.namespace: dict[str, Value] = {}
        self._ancestors: list[Class] | None = None
        self.sources = NOTHING

    def find(self, name: str) -> Value | None:
        """The class attribute, looked up through the bases that the program defines."""
        for cls in self.lineage():
            if name in cls.namespace:
                return cls.namespace[name]
        return None

    def lineage(self) -> list[Class]:
        """This class and the bases that the program defines, each once, depth first."""
        if self._ancestors is not None:
            return [self, *self._ancestors]
        found: list[Class] = []
        pending: list[Class] = [self]
        while pending:
            cls = pending.pop(0)
            if cls not in found:
                found.append(cls)
                pending[:0] = [base for base in cls.bases if isinstance(base, Class)]
        # Without the class itself: no cycle outlives the file.
        self._ancestors = found[1:]
        return found

    def library_bases(self) -> list[str]:
        """The qualified names of the bases that a library defines."""
        return [base.name for cls in self.lineage() for base in cls.bases if isinstance(base, Symbol)]

    def fields(self) -> list[str]:
        """The names that are annotated in its body, or in a base's: of a dataclass or a named tuple, in order."""
        return [
            statement.target.id
            for owner in reversed(self.lineage())
            for statement in owner.node.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        ]

    def has_unknown_base(self) -> bool:
        return any(not isinstance(base, (Class, Symbol)) for cls in self.lineage() for base in cls.bases)


class Bound(Value):
    """A method of the program together with its receiver."""

    __slots__ = ("function", "receiver")

    def __init__(self, receiver: Value, function: Function) -> None:
        self.receiver = receiver
        self.function = function
        self.sources = NOTHING


class Object(Value):
    """Something with an identity: a model, a tokenizer, an instance, a list, or what came in from outside.

    Objects are named by where they are made and by the frame that makes them, so that two calls of one factory
    make two objects.
    """

    __slots__ = ("call", "cls", "id", "is_outside", "name", "node", "parent")

    def __init__(
        self,
        id: int,
        cls: str | Class | None,
        node: ast.AST,
        *,
        name: str = "",
        call: int | None = None,
        parent: Object | None = None,
        is_outside: bool = False,
    ) -> None:
        self.id = id
        self.cls = cls
        self.node = node
        self.name = name
        """The parameter or attribute that it came in by; empty for what the program makes."""
        self.call = call
        """The id of the call that made it."""
        self.parent = parent
        """The outside object that it is an attribute or an item of."""
        self.is_outside = is_outside
        self.sources = frozenset((id,)) if is_outside else NOTHING


class Partial(Value):
    """`functools.partial`: a callee with some of its arguments."""

    __slots__ = ("callee", "keywords", "positional")

    def __init__(self, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> None:
        self.callee = callee
        self.positional = positional
        self.keywords = keywords
        self.sources = NOTHING


class Tuple(Value):
    """A tuple, or any sequence that can't change, with known items."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Value, ...]) -> None:
        self.items = items
        self.sources = union_of_sources(items)


class Union(Value):
    """One of several values, each with the conditions under which it is the one."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[tuple[Value, tuple[Condition, ...]], ...]) -> None:
        self.options = options
        self.sources = union_of_sources(value for value, _ in options)


def union_of_sources(values: Iterable[Value]) -> Sources:
    """What any of the values was computed from."""
    found = NOTHING
    for value in values:
        if value.sources and value.sources is not found:
            found = found | value.sources if found else value.sources
    if len(found) > _MOST_SOURCES:
        return found | {OVERFLOW} if len(found) < 4 * _MOST_SOURCES else frozenset({OVERFLOW})
    return found


def ids_of_objects(value: Value) -> Sources:
    """The objects that the value, or an item of the tuple, may be."""
    held = value.items if isinstance(value, Tuple) else (value,)
    return frozenset(one.id for item in held for one, _ in options(item) if isinstance(one, Object))


def options(value: Value) -> tuple[tuple[Value, tuple[Condition, ...]], ...]:
    """The values that this one may be, each with its conditions."""
    return value.options if isinstance(value, Union) else ((value, ()),)


def join(left: Value, right: Value, test: ast.expr | None = None) -> Value:
    """What is known where two paths meet: `left` if `test` came out true, `right` if false."""
    if left is right:
        return left
    kind = type(left)
    if kind is type(right):
        if isinstance(left, Opaque) and isinstance(right, Opaque) and not _stay_apart(left, right):
            return _join_opaque(left, right)
        if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
            return Tuple(tuple(join(one, other, test) for one, other in zip(left.items, right.items, strict=True)))
        if kind is not Union and _is_same(left, right):
            # Of two equal constants, the one that may be replaced.
            return right if isinstance(right, Constant) and right.may else left
    first, second = ((), ()) if test is None else (((test, True),), ((test, False),))
    if kind is not Union and type(right) is not Union:
        return Union(((left, first), (right, second)))
    return one_of([(left, first), (right, second)])


def one_of(choices: Iterable[tuple[Value, tuple[Condition, ...]]]) -> Value:
    """One of several values, each with the conditions under which it is the one."""
    merged: list[tuple[Value, tuple[Condition, ...]]] = []
    for value, why in choices:
        for option, conditions in options(value):
            index = _index(option, merged)
            known = _either(merged[index][1], conditions + why) if index is not None else None
            if index is not None and (known is not None or not isinstance(option, (Constant, Symbol))):
                merged[index] = (merged[index][0], known or ())
            else:
                merged.append((option, conditions + why))
    if len(merged) == 1:
        return merged[0][0]
    if len(merged) > _MOST_OPTIONS:
        return Opaque(None, union_of_sources(value for value, _ in merged))
    return Union(tuple(merged))


def _either(one: tuple[Condition, ...], other: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
    """When one or the other holds: a test that may come out either way no longer counts; None if that can't be said."""
    if not one or not other:
        return ()
    if one == other:
        return one
    differ = set(one) ^ set(other)
    if len({test for test, _ in differ}) > 1 or len(differ) == 1:
        return None
    return tuple(condition for condition in one if condition not in differ)


_NO_CONTEXT = frozenset({"contextlib.nullcontext", "contextlib.suppress"})
"""What programs write where they want no context; `suppress()` suppresses nothing."""


def _is_optional_context(left: Opaque, right: Opaque) -> bool:
    """A context manager or none, as in `ctx = nullcontext() if on_cpu else autocast("cuda")`: which one matters."""
    return left.cls != right.cls and not _NO_CONTEXT.isdisjoint((left.cls, right.cls))


def _stay_apart(left: Opaque, right: Opaque) -> bool:
    """Whether it counts which of the two it is: a context or none, one device or the other."""
    return _is_optional_context(left, right) or left.cls == right.cls == "torch.device"


def _join_opaque(left: Opaque, right: Opaque) -> Opaque:
    cls = left.cls if left.cls == right.cls else None
    call = left.call if left.call == right.call else None
    mine, others = left.sources, right.sources
    if others <= mine and cls == left.cls and call == left.call:
        return left
    if mine <= others and cls == right.cls and call == right.call:
        return right
    return Opaque(cls, union_of_sources((left, right)), call)


def _index(value: Value, merged: list[tuple[Value, tuple[Condition, ...]]]) -> int | None:
    for index, (known, _) in enumerate(merged):
        if known is value or (type(known) is type(value) and _is_same(value, known)):
            return index
    return None


def _is_same(left: Value, right: Value) -> bool:
    """Whether two values of one class are the same."""
    if isinstance(left, Object):
        return isinstance(right, Object) and left.id == right.id
    if isinstance(left, Constant):
        return isinstance(right, Constant) and _is_same_constant(left, right)
    if isinstance(left, Symbol):
        return isinstance(right, Symbol) and left.name == right.name
    if isinstance(left, Opaque):
        return isinstance(right, Opaque) and left.cls == right.cls == "torch.device" and left.call == right.call
    return False


def _is_same_constant(left: Constant, right: Constant) -> bool:
    return type(left.value) is type(right.value) and left.value == right.value
