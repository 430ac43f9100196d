"""Of which type the elements of a tensor are that a model gave, or that was made or cast in a written type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Symbol, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library, tensors

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord

__all__ = ["ArrayConversion", "array_conversions"]

_BFLOAT16 = "bfloat16"
_LONGEST_WAY = 30
_NO_FLOATS = frozenset({"argmax", "argmin", "long", "int", "tolist", "numpy", "item"})
"""Methods whose results are integers, or no tensors."""


class ArrayConversion:
    """A call of `numpy()`."""

    __slots__ = ("_facts", "_origin", "call")

    def __init__(self, facts: Facts, call: Call, owners: dict[int, tuple[Value, object]]) -> None:
        self._facts = facts
        self.call = call
        self._origin = _Types(facts, owners).origin(call.record.receiver, _LONGEST_WAY)

    @property
    def of_bfloat16(self) -> Truth:
        """Whether the tensor certainly holds bfloat16, for which NumPy has no type."""
        return answer(YES if self._origin is not None else UNKNOWN)

    @property
    def origin(self) -> Place | None:
        """The run of a model, the cast or the making that gave the tensor its type."""
        return None if self._origin is None else self._facts.place(self._origin.node)

    @property
    def is_of_a_model(self) -> bool:
        return self._origin is not None and self._origin.name == "()"

    @property
    def start(self) -> Place | None:
        """The empty place before the name `numpy`, where a cast belongs; None if it is written in another way."""
        found = self.call.method_range
        return Place(self.call.place.path, found._replace(end=found.start), "") if found is not None else None


class _Types:
    """Looks back along what tensors were computed from."""

    def __init__(self, facts: Facts, owners: dict[int, tuple[Value, object]]) -> None:
        self._facts = facts
        self._machine = facts.machine
        self._owners = owners

    def origin(self, value: Value | None, steps: int) -> CallRecord | None:
        """The call that made the tensor bfloat16, where nothing on the way may have changed that."""
        if not isinstance(value, Opaque) or steps == 0 or value.cls == library.FLOAT32:
            return None
        noted = self._machine.derived.get(id(value))
        if noted is not None:
            return None if noted[1] in _NO_FLOATS else self._common(noted[2], steps - 1)
        made = self._machine.calls.get(value.call) if value.call is not None else None
        if made is None:
            return None
        if made.name == "()" and isinstance(made.receiver, Object):
            return made if self._gives_bfloat16(made, made.receiver) and self._is_computed(value, made) else None
        if made.name == _BFLOAT16 or _is_told(made):
            return made
        is_kept = tensors.keeps_type(made.name) and made.arguments.is_complete and made.arguments.get("dtype") is None
        given = made.receiver if made.receiver is not None else made.arguments.get("input", 0)
        return self.origin(given, steps - 1) if is_kept else None

    def _common(self, given: tuple[Value, ...], steps: int) -> CallRecord | None:
        """Of what is computed of several: one is bfloat16, and the others, written numbers or integers, widen nothing."""
        origins = [self.origin(value, steps) for value in given if not self._widens_nothing(value, steps)]
        return origins[0] if origins and all(origin is not None for origin in origins) else None

    def _widens_nothing(self, value: Value | None, steps: int) -> bool:
        """A number that is written, or a count, a mask or ids: none makes more of bfloat16 than it is."""
        if isinstance(value, Constant):
            return isinstance(value.value, (int, float))
        if not isinstance(value, Opaque) or steps == 0:
            return False
        if value.cls in {"length", "count", library.MASK, library.ENCODING}:
            return True
        made = self._machine.calls.get(value.call) if value.call is not None else None
        if made is None or made.receiver is None or not tensors.keeps_type(made.name):
            return False
        return made.arguments.get("dtype") is None and self._widens_nothing(made.receiver, steps - 1)

    def _gives_bfloat16(self, run: CallRecord, model: Object) -> bool:
        """Whether the weights are bfloat16, and nothing but them says in what the model computes."""
        call = Call(self._facts, run)
        states = call.states("dtype")
        is_own = isinstance(model.cls, Class) or (model.is_outside and model.parent is None)
        is_known = len(states) == 1 and states[0].value == _BFLOAT16 and not states[0].is_default
        return is_known and not is_own and call.autocast is NO

    def _is_computed(self, value: Value, run: CallRecord) -> bool:
        """Whether the value is a tensor of the model's output that comes in the type of its weights."""
        at: Value = value
        names: list[object] = []
        while id(at) in self._owners:
            at, name = self._owners[id(at)]
            names.append(name)
        if not isinstance(at, Opaque) or at.call != run.id:
            return False
        texts = [name for name in names if isinstance(name, str)]
        if any(name not in tensors.OUTPUTS for name in texts) or (not texts and "labels" in run.arguments.keywords):
            return False
        kind = self._machine.kind(run.receiver) if isinstance(run.receiver, Object) else None
        is_module = kind == "module"
        return is_module or (bool(names) and not self._has_wide_logits(run, texts))

    def _has_wide_logits(self, run: CallRecord, names: list[str]) -> bool:
        """Whether the logits of the model may be float32 whatever its weights are."""
        receiver = run.receiver
        if "logits" not in names or not isinstance(receiver, Object):
            return False
        loaded = self._facts.loaded(receiver)
        known = [str(name.value).lower() for name in loaded.names] if loaded is not None else []
        types = self._facts.model_types(receiver, str(receiver.cls))
        is_wide = any(
            word in name for name in (*known, *types, str(receiver.cls).lower()) for word in tensors.WIDE_LOGITS
        )
        return is_wide or self._facts.requires("transformers", ">=4.45") is NO


def _is_told(made: CallRecord) -> bool:
    """Whether the call makes a tensor of bfloat16, or casts one to it."""
    position = 0 if made.name in {"to", "type"} else None
    named = made.arguments.get("dtype", position) if position == 0 or made.name in tensors.MAKERS else None
    return isinstance(named, Symbol) and named.name == f"torch.{_BFLOAT16}"


def array_conversions(facts: Facts) -> Iterator[ArrayConversion]:
    """The calls of `numpy()` in this module."""
    calls = [call for call in facts.calls("numpy") if call.place.path == facts.source.path]
    if calls:
        owners = {id(part): (owner, name) for (_, name), (owner, part) in facts.machine.parts.items()}
        yield from (ArrayConversion(facts, call, owners) for call in calls)
