"""Which layers a module of the program holds, and whether torch knows of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.modes import is_same_object
from llm_lsp.facts.parameters import may_be_frozen
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Function, Object, Opaque, Symbol, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import HeldParts
    from llm_lsp.facts.place import Place

__all__ = ["HiddenLayers", "HiddenTensor", "has_parameters", "has_unseen_base", "hidden_layers", "hidden_tensors"]

_DEEPEST_LAYER = 2
_REGISTERS = (
    "setattr(",
    "add_module(",
    "register_module(",
    "register_parameter(",
    "__setattr__",
    "_modules",
    "_parameters",
)
"""Words of classes that may make layers known by themselves."""
_LOOKED_AFTER = frozenset({"parameters", "named_parameters", "load_state_dict", "state_dict", "eval", "requires_grad_"})
"""Methods that a program calls on layers that it looks after by itself."""


class HiddenLayers:
    """Layers or parameters in a plain list, tuple or dictionary that is an attribute of a module of the program."""

    __slots__ = ("_facts", "_held", "_parts")

    def __init__(self, facts: Facts, held: HeldParts, parts: list[Value]) -> None:
        self._facts = facts
        self._held = held
        self._parts = parts

    @property
    def attribute(self) -> str:
        """The attribute, as the module's methods write it."""
        return f"self.{self._held.name}"

    @property
    def container(self) -> str:
        """What holds them: "list", "tuple", "dict" or "set"."""
        holder = self._held.holder
        return str(holder.cls).rpartition(".")[2] if isinstance(holder, Object) else "tuple"

    @property
    def part(self) -> str:
        """What one of them is made by, as it is written."""
        made = next(made for part in self._parts if (made := _made_by(self._facts, part)) is not None)
        return made.callee

    @property
    def _statement(self) -> ast.Assign | ast.AnnAssign | None:
        """The statement that stores them: in the class, in a base of it, or in a function that is given the module."""
        stored = self._held.target
        cls = self._held.owner.cls
        around: list[ast.AST] = [each.node for each in cls.lineage()] if isinstance(cls, Class) else []
        around += [function.node for function in self._facts.machine.functions.values()]
        for node in (each for outer in around for each in ast.walk(outer)):
            if isinstance(node, ast.Assign) and any(target is stored for target in node.targets):
                return node
            if isinstance(node, ast.AnnAssign) and node.target is stored and node.value is not None:
                return node
        return None

    @property
    def place(self) -> Place | None:
        """The statement that stores them; None where it is in another module."""
        statement = self._statement
        place = self._facts.place(statement) if statement is not None else None
        return place if place is not None and place.path == self._facts.source.path else None

    @property
    def stored(self) -> Place | None:
        """What is stored, as it is written."""
        statement = self._statement
        return None if statement is None or statement.value is None else self._facts.place(statement.value)

    @property
    def is_registered(self) -> Truth:
        """Whether the module knows of them: NO only if nothing else holds them, and nobody looks after them."""
        facts, owner = self._facts, self._held.owner
        cls = owner.cls
        if not isinstance(cls, Class) or not facts.is_whole or registers_by_itself(facts, cls):
            return answer(UNKNOWN)
        return answer(UNKNOWN if self._is_held_elsewhere or self._is_looked_after else NO)

    @property
    def _is_held_elsewhere(self) -> bool:
        """Whether another module, or somebody unknown, has them or the container too."""
        ids = {part.id for part in self._parts if isinstance(part, Object)}
        if any(layer.id in ids for _, _, layer in self._facts.machine.layers_given.values()):
            return True
        holder = self._held.holder
        container = holder.id if isinstance(holder, Object) else None
        for record in self._facts.records:
            takes = (
                record.name.startswith("torch.nn.")
                or not record.is_resolved
                or isinstance(record.receiver, (Object, Class))
            )
            if record.name.startswith("builtins.") or record.name == "()" or not takes:
                continue
            for value in record.arguments.values():
                given = {option.id for option, _ in options(value) if isinstance(option, Object)}
                if container in given or (record.is_resolved and given & ids):
                    return True
        return False

    @property
    def _is_looked_after(self) -> bool:
        """Whether the program trains, loads or freezes them by themselves."""
        machine = self._facts.machine
        layers = [part for part in self._parts if isinstance(part, Object)]
        return any(
            not _LOOKED_AFTER.isdisjoint(machine.uses.get(layer.id, ())) or may_be_frozen(machine, layer)
            for layer in layers
        )

    @property
    def is_computed_with(self) -> Truth:
        """Whether the module's methods work with them, with gradients."""
        cls = self._held.owner.cls
        methods = (
            [member for each in cls.lineage() for member in each.namespace.values()] if isinstance(cls, Class) else []
        )
        users = [
            method
            for method in methods
            if isinstance(method, Function)
            and method.name != "__init__"
            and self.attribute in self._facts.text_of(method.node)
        ]
        is_quiet = any(
            isinstance(decorator, (Symbol, Opaque)) and _name_of(decorator) in library.GRADIENTS_OFF
            for method in users
            for decorator in method.decorators
        )
        return answer(YES if users and not is_quiet else UNKNOWN)

    @property
    def are_parameters(self) -> bool:
        """Whether they are parameters, and no layers."""
        return all(not isinstance(part, Object) for part in self._parts)

    @property
    def remedy(self) -> str | None:
        """The class of `torch.nn` that holds such parts and tells torch of them; None where none does."""
        kind = "Parameter" if self.are_parameters else "Module"
        if self.container in {"list", "tuple"}:
            return f"{kind}List"
        return f"{kind}Dict" if self.container == "dict" and self._has_names else None

    @property
    def _has_names(self) -> bool:
        """Whether nothing says that a key is no text: torch takes no others."""
        value = self._statement.value if self._statement is not None else None
        keys = value.keys if isinstance(value, ast.Dict) else [value.key] if isinstance(value, ast.DictComp) else []
        return all(not isinstance(key, ast.Constant) or isinstance(key.value, str) for key in keys)

    @property
    def stored_by_the_remedy(self) -> str | None:
        """What is stored, inside the remedy, as this module writes it; None where it imports nothing that leads there."""
        stored, remedy = self.stored, self.remedy
        name = self._facts.spelled(f"torch.nn.{remedy}")
        if stored is None or remedy is None or not self._facts.can_be_spelled(f"torch.nn.{remedy}"):
            return None
        text = "" if stored.text in {"[]", "{}", "list()", "dict()"} else stored.text
        is_bare = self.container == "tuple" and not text.startswith("(") and "," in text
        return f"{name}([{text}])" if is_bare else f"{name}({text})"


class HiddenTensor:
    """A tensor that asks for gradients and is an attribute of a module of the program, but no parameter of it."""

    __slots__ = ("_cls", "_facts", "call")

    def __init__(self, facts: Facts, call: Call, cls: Class) -> None:
        self._facts = facts
        self._cls = cls
        self.call = call

    @property
    def attribute(self) -> str:
        """The attribute, as it is written."""
        return str(self._facts.target_of(self.call.record.node))

    @property
    def is_registered(self) -> Truth:
        """Whether the module, or an optimizer, knows of it: NO only if neither does, and nobody reads its gradients."""
        facts = self._facts
        if not facts.is_whole or registers_by_itself(facts, self._cls):
            return answer(UNKNOWN)
        name = self.attribute.removeprefix("self")
        optimizers = facts.index.making("optimizer")
        is_given = any(name in facts.text_of(optimizer.node) for optimizer in optimizers)
        is_by_hand = f"{name}.grad" in facts.machine.text or "autograd.grad(" in facts.machine.text
        return answer(UNKNOWN if is_given or is_by_hand else NO)


def hidden_tensors(facts: Facts) -> Iterator[HiddenTensor]:
    """The tensors with `requires_grad=True` that methods of modules assign to their attributes."""
    for call in facts.calls(*library.TENSOR_FACTORIES):
        asks = call.argument("requires_grad")
        if asks is None or asks.is_true is not YES:
            continue
        frame = call.record.frame
        owner = frame.receiver if frame.receiver is not None else frame.locals.get("self")
        cls = owner.cls if isinstance(owner, Object) else None
        if not isinstance(cls, Class):
            continue
        if facts.machine.kind_of_class(cls) == "model" and str(facts.target_of(call.record.node)).startswith("self."):
            yield HiddenTensor(facts, call, cls)


def has_unseen_base(cls: Class) -> bool:
    """Whether a class has a base that is neither of the program nor of a library that is known."""
    roots = library.LIBRARY_ROOTS | {"builtins", "abc", "typing", "collections", "enum"}
    return cls.has_unknown_base() or any(base.partition(".")[0] not in roots for base in cls.library_bases())


def registers_by_itself(facts: Facts, cls: Class) -> bool:
    """Whether a class, or a base of it that may not be seen, has its own ways to make layers and tensors known."""
    return has_unseen_base(cls) or any(
        word in facts.text_of(each.node) for each in cls.lineage() for word in _REGISTERS
    )


def hidden_layers(facts: Facts) -> Iterator[HiddenLayers]:
    """The plain containers of layers that modules of the program hold; those that hold anything else are left out."""
    for held in facts.machine.held_parts.values() if facts.records else ():
        if held.parts and all(_is_part(facts, part) for part in held.parts):
            learning = [part for part in held.parts if not isinstance(part, Object) or has_parameters(facts, part)]
            if learning:
                yield HiddenLayers(facts, held, learning)


def _is_part(facts: Facts, part: Value) -> bool:
    """Whether it is a layer that the program makes, or a parameter."""
    if isinstance(part, Object):
        return not part.is_outside and facts.machine.kind(part) in {"model", "module"}
    return isinstance(part, Opaque) and part.cls == "torch.nn.Parameter"


def has_parameters(facts: Facts, layer: Object, depth: int = 0) -> bool:
    """Whether a module certainly has parameters that learn."""
    if isinstance(layer.cls, Class):
        held = facts.machine.layers_given.values()
        return depth < _DEEPEST_LAYER and any(
            is_same_object(owner, layer) and has_parameters(facts, part, depth + 1) for owner, _, part in held
        )
    if layer.cls in library.LAYERS_WITH_PARAMETERS:
        return True
    made = facts.machine.calls.get(layer.call or 0) if layer.cls in library.HOLDS_LAYERS else None
    parts = [option for value in made.arguments.values() for option, _ in options(value)] if made is not None else []
    return depth < _DEEPEST_LAYER and any(
        has_parameters(facts, part, depth + 1) for part in parts if isinstance(part, Object)
    )


def _made_by(facts: Facts, part: Value) -> Call | None:
    made = facts.machine.calls.get(part.call or 0) if isinstance(part, (Object, Opaque)) else None
    return Call(facts, made) if made is not None else None


def _name_of(decorator: Symbol | Opaque) -> str | None:
    return decorator.name if isinstance(decorator, Symbol) else decorator.cls
