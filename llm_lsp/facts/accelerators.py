"""Gradients that are computed, or clipped, past the `Accelerator` that prepared the model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.machine import ON
from llm_lsp.facts.microbatches import is_of_a_tensor
from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.facts.updates import BACKWARDS, is_for_several_batches
from llm_lsp.facts.values import Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["Bypass", "bypasses"]

_ACCELERATOR = "accelerate.Accelerator"
_PREPARES = ("prepare", "prepare_model")
_UNSCALES = ("unscale_gradients", "unscale_")


class Bypass:
    """A call of `backward` on a loss of a prepared model, or one that clips the gradients of its parameters."""

    __slots__ = ("_facts", "_prepare", "call")

    def __init__(self, facts: Facts, record: CallRecord, prepare: CallRecord) -> None:
        self._facts = facts
        self._prepare = prepare
        self.call = Call(facts, record)

    @property
    def is_clipping(self) -> bool:
        return self.call.name in library.CLIPS

    @property
    def is_left_out(self) -> Truth:
        """Whether what the accelerator would do is left out: UNKNOWN if the program may mean it, and does it by itself."""
        asked_first = self.call.is_guarded_by("accel") or not set(self._prepare.guards) <= set(self.call.record.guards)
        return answer(UNKNOWN if asked_first or not self._facts.is_whole else YES)

    @property
    def scales_for_float16(self) -> Truth:
        """Whether the accelerator is told to multiply losses, so that gradients in float16 do not vanish."""
        made = self._made
        value = made.arguments.get("mixed_precision") if made is not None else None
        is_half = isinstance(value, Constant) and value.value == "fp16" and not value.may
        return answer(YES if is_half else UNKNOWN)

    @property
    def accumulates(self) -> Truth:
        """Whether the accelerator is told to divide losses by the number of batches of a step."""
        is_told = self._made is not None and is_for_several_batches(self._facts, self._prepare.receiver)
        return answer(YES if is_told else UNKNOWN)

    @property
    def accelerator(self) -> str | None:
        """The accelerator as the program writes it where it prepares, if that means the same here."""
        written = self._written_accelerator
        if written is None:
            return None
        place, prepared = self._facts.place(written), Call(self._facts, self._prepare)
        if self._facts.is_visible(place, prepared, self.call) or self._is_of_the_same_object(place):
            return place.text
        return None

    @property
    def prepare_place(self) -> Place:
        return self._facts.place(self._prepare.node)

    @property
    def loss(self) -> Place | None:
        """What `backward` is called on."""
        node = self.call.record.node
        function = node.func if isinstance(node, ast.Call) else None
        is_method = isinstance(function, ast.Attribute) and function.attr == "backward"
        return self._facts.place(function.value) if isinstance(function, ast.Attribute) and is_method else None

    @property
    def function_place(self) -> Place:
        """What is called."""
        node = self.call.record.node
        return self._facts.place(node.func if isinstance(node, ast.Call) else node)

    @property
    def _made(self) -> CallRecord | None:
        accelerator = self._prepare.receiver
        return self._facts.machine.calls.get(accelerator.call or 0) if isinstance(accelerator, Object) else None

    @property
    def _written_accelerator(self) -> ast.expr | None:
        node = self._prepare.node
        return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None

    def _is_of_the_same_object(self, place: Place) -> bool:
        """Whether it is an attribute of an object whose other method calls this."""
        there, here = self._prepare.frame, self.call.record.frame
        is_one = there.receiver is not None and there.receiver is here.receiver
        return is_one and place.text.startswith("self.") and place.text.count(".") == 1


def bypasses(facts: Facts) -> Iterator[Bypass]:
    """The calls that compute or clip gradients of models that an accelerator of the program has prepared, in order."""
    prepared = _prepared(facts)
    if not prepared:
        return
    for record in facts.index.named(BACKWARDS):
        if is_of_a_tensor(record) and not _is_scaled(facts, record.receiver):
            prepare = next((prepared[id] for id in _models_of(facts, record.receiver) if id in prepared), None)
            if prepare is not None and prepare.id < record.id:
                yield Bypass(facts, record, prepare)
    if facts.index.named(_UNSCALES):
        return
    for record in facts.index.named(library.CLIPS):
        prepare = next(
            (prepared[id] for id in _owners_of(facts, record.arguments.get("parameters", 0)) if id in prepared), None
        )
        if prepare is not None and prepare.id < record.id:
            yield Bypass(facts, record, prepare)


def _prepared(facts: Facts) -> dict[int, CallRecord]:
    """The calls that prepare models, by the ids of these; those of a class in no table go by the call that made them."""
    found: dict[int, CallRecord] = {}
    for record in facts.index.named(_PREPARES):
        if isinstance(record.receiver, Object) and record.receiver.cls == _ACCELERATOR:
            for value in record.arguments.values():
                id = value.id if isinstance(value, Object) else value.call if isinstance(value, Opaque) else None
                if id is not None and not _is_one_of_several(facts, value, record):
                    found.setdefault(id, record)
    return found


def _is_one_of_several(facts: Facts, model: Value, prepare: CallRecord) -> bool:
    """Whether a loop made the model that is outside of it by now: all models that it made are known as one."""
    made = facts.machine.calls.get(model.call or 0) if isinstance(model, Object | Opaque) else None
    return made is not None and made.loops != prepare.loops[: len(made.loops)]


def _models_of(facts: Facts, loss: Value | None) -> Iterator[int]:
    """The models whose forwards a loss was computed from, with gradients."""
    calls = facts.machine.calls
    for id in sorted(facts.machine.flow(loss)) if loss is not None else ():
        run = calls.get(id)
        if run is None or run.gradients is not ON:
            continue
        if run.name == "()" and isinstance(run.receiver, Object):
            yield run.receiver.id
        elif run.name.endswith("()"):
            # What a call made is called, by the name of a class that is in no table.
            yield from (made for made in run.result.sources if made in calls and f"{calls[made].name}()" == run.name)


def _owners_of(facts: Facts, parameters: Value | None) -> Iterator[int]:
    for option, _ in options(parameters) if parameters is not None else ():
        made = facts.machine.calls.get(option.call or 0) if isinstance(option, Opaque) else None
        if made is not None and made.name == "parameters" and isinstance(made.receiver, Object):
            yield made.receiver.id


def _is_scaled(facts: Facts, loss: Value | None) -> bool:
    """Whether the program multiplies the loss by a scaler itself."""
    made = facts.machine.calls.get(loss.call or 0) if isinstance(loss, Opaque) else None
    return made is not None and made.name == "scale"
