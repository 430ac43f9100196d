"""Training in float16 with a loss scaler: what is clipped while it is scaled, what is trained in float16 weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.values import Condition

__all__ = ["Clipping", "clippings", "is_scaler", "may_scale"]

_UNSCALES = ("scale", "step", "clip", "grad", "optim")
"""Words in the names of unknown functions that may unscale gradients if they get the scaler."""


class Clipping:
    """A call that clips gradients after `scaler.scale(loss).backward()`."""

    __slots__ = ("_facts", "_step", "call", "scale")

    def __init__(self, facts: Facts, call: Call, scale: Call) -> None:
        self._facts = facts
        self.call = call
        self.scale = scale
        """The call of `scale`."""
        self._step = self._only_step()

    @property
    def scaler(self) -> str:
        """The scaler, as it is written where it scales."""
        return self.scale.callee.rpartition(".")[0]

    @property
    def gradients_are_scaled(self) -> Truth:
        """Whether nothing has divided them by the scale since."""
        record = self.call.record
        found = options(record.state["scaled"])
        scaled = [
            conditions
            for option, conditions in found
            if isinstance(option, Constant) and option.value == self.scale.record.id
        ]
        others = [option for option, _ in found if not isinstance(option, Constant) or option.value == "unscaled"]
        can_hold = any(_agree(self._facts, (*conditions, *record.guards)) for conditions in scaled)
        is_seen = not others and can_hold and not self._limit_is_scaled and not self._is_given_away()
        return answer(YES if is_seen and self._facts.machine.is_complete else UNKNOWN)

    @property
    def unscaling(self) -> str | None:
        """`scaler.unscale_(optimizer)`, for the one step that follows, under its condition; None where that isn't plain."""
        step, clip, scale = self._step, self.call.record, self.scale.record
        if step is None or step.frame is not clip.frame or step.frame is not scale.frame or step.loops != clip.loops:
            return None
        same_scaler = Call(self._facts, step).callee.rpartition(".")[0] == self.scaler
        optimizer = Call(self._facts, step).argument("optimizer", 0)
        text = optimizer.value_place.text if optimizer is not None and optimizer.value_place is not None else "("
        tests = self._tests_beside(step)
        if not same_scaler or "(" in text or len(tests) > 1 or (tests and tests != self._tests_beside(scale)):
            return None
        unscaling = f"{self.scaler}.unscale_({text})"
        if not tests:
            return unscaling if not self._tests_beside(scale) else None
        ((test, came_out),) = tests
        return f"if {test}:\n    {unscaling}" if came_out and "(" not in test else None

    def _tests_beside(self, record: CallRecord) -> set[tuple[str, bool]]:
        """The tests that decided that the call is reached, and not that the gradients are clipped."""
        facts = self._facts
        around = {(facts.text_of(test), came_out) for test, came_out in self.call.record.guards}
        return {(facts.text_of(test), came_out) for test, came_out in record.guards} - around

    def _only_step(self) -> CallRecord | None:
        """The one `scaler.step(optimizer)` of the function that clips; None where there are several."""
        frame = self.call.record.frame
        steps = [
            record
            for record in self._facts.records
            if record.name == "step" and record.frame is frame and record.receiver is self.scale.record.receiver
        ]
        return steps[0] if len(steps) == 1 else None

    @property
    def _limit_is_scaled(self) -> bool:
        """Whether the limit says that nothing is clipped, or that the scale was thought of."""
        limit = self.call.argument("max_norm", 1) or self.call.argument("clip_value", 1)
        text = limit.value_place.text if limit is not None and limit.value_place is not None else ""
        return "inf" in text or "scale" in text

    def _is_given_away(self) -> bool:
        """Whether a function of which nobody knows what it does gets the scaler and may unscale with it."""
        scaler = self.scale.record.receiver
        return any(
            not record.is_resolved
            and record.receiver is not scaler
            and any(word in record.name.rpartition(".")[2].lower() for word in _UNSCALES)
            and any(option is scaler for value in record.arguments.values() for option, _ in options(value))
            for record in self._facts.records
        )


def clippings(facts: Facts) -> Iterator[Clipping]:
    """The calls that clip gradients of a scaled loss, the first one after each `backward` alone."""
    seen: set[int] = set()
    for record in facts.records:
        state = record.state.get("scaled")
        if state is None or not _clips(facts, record):
            continue
        for scale in _scales_of(facts, state):
            if scale.id not in seen:
                seen.add(scale.id)
                yield Clipping(facts, Call(facts, record), Call(facts, scale))


def _clips(facts: Facts, record: CallRecord) -> bool:
    """Whether the call clips gradients as they are: an `Accelerator`'s own method unscales them first."""
    if record.name in library.CLIPS:
        return True
    return isinstance(record.receiver, Object) and facts.is_model(record.receiver) is YES


def _scales_of(facts: Facts, state: Value) -> Iterator[CallRecord]:
    for option, _ in options(state):
        id = option.value if isinstance(option, Constant) else None
        record = facts.machine.calls.get(id) if isinstance(id, int) else None
        if record is not None and is_scaler(facts, record.receiver) and may_scale(facts, record.receiver):
            yield record


def is_scaler(facts: Facts, value: Value | None) -> bool:
    """Whether it is surely a `GradScaler`: by its class, or, if it comes from outside, by what is done with it."""
    if not isinstance(value, Object):
        return False
    kind = facts.machine.kind(value)
    if kind is not None:
        return kind == "scaler"
    is_of_unknown_class = value.call is not None and "GradScaler" not in value.name
    if not value.is_outside or value.cls is not None or is_of_unknown_class:
        return False
    return {"scale", "step"} <= facts.machine.uses.get(value.id, set())


def may_scale(facts: Facts, scaler: Value | None) -> bool:
    """Whether the program leaves the scaler switched on, at least for some of its settings."""
    made = facts.machine.calls.get(scaler.call) if isinstance(scaler, Object) and scaler.call is not None else None
    enabled = made.arguments.get("enabled") if made is not None else None
    return not (isinstance(enabled, Constant) and not enabled.value)


def _agree(facts: Facts, conditions: tuple[Condition, ...]) -> bool:
    """Whether all the tests can come out so at once: none is asked for one way and the other."""
    known: dict[str, bool] = {}
    return all(known.setdefault(facts.text_of(test), came_out) is came_out for test, came_out in conditions)
