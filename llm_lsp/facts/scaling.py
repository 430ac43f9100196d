"""Training in float16 with a loss scaler: what is clipped while it is scaled, what is trained in float16 weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.chains import way
from llm_lsp.facts.choices import Choice
from llm_lsp.facts.parameters import are_optimized, may_be_frozen
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.values import Condition

__all__ = ["Clipping", "HalfTraining", "clippings", "half_trainings"]

_SCALES: dict[str, frozenset[object]] = {
    "fp16": frozenset({True}),
    "mixed_precision": frozenset({"fp16"}),
    "precision": frozenset({"16-mixed", "16", 16}),
}
"""Settings of trainers to the values with which they train under autocast in float16, with a loss scaler."""
_SETTINGS = {
    "accelerate.Accelerator": "mixed_precision",
    **dict.fromkeys(
        ("lightning.Trainer", "lightning.pytorch.Trainer", "pytorch_lightning.Trainer", "lightning.Fabric", "lightning.fabric.Fabric"),
        "precision",
    ),
}  # fmt: skip
"""Which of them a class takes."""
_SCALES_OTHERWISE = frozenset({
    "deepspeed", "fsdp", "strategy", "plugins", "half_precision_backend", "fp16_backend", "use_cpu", "no_cuda", "deepspeed_plugin",
    "deepspeed_plugins", "fsdp_plugin", "megatron_lm_plugin", "kwargs_handlers", "cpu",
})  # fmt: skip
"""Settings beside which another scaler may be at work, which takes float16 gradients, or none."""
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
    def place(self) -> Place:
        """The innermost place that only gradients of a scaled loss come through on the way to be clipped."""
        facts, record = self._facts, self.call.record
        same = [other for other in facts.index.named((record.name,)) if other.node is record.node]
        innocent = [way(Call(facts, other)) for other in same if not _are_scaled(facts, other)]
        places = [facts.place(node) for node in way(self.call) if not any(node in way for way in innocent)]
        return next((place for place in places if place.path == facts.source.path), self.call.place)

    @property
    def unscaling(self) -> str | None:
        """`scaler.unscale_(optimizer)`, for the one step that follows, under its condition; None where that isn't plain.

        A step that follows in any case unscales by itself if nobody has done so before.
        """
        step, clip, facts = self._step, self.call.record, self._facts
        if step is None or step.loops != clip.loops or self.place != self.call.place:
            return None
        optimizer = Call(facts, step).argument("optimizer", 0)
        text = optimizer.value_place.text if optimizer is not None and optimizer.value_place is not None else "("
        scaler = Call(facts, step).callee.rpartition(".")[0]
        tests, around = self._tests_beside(step), self._tests_beside(self.scale.record)
        if "(" in text or "(" in scaler or (tests and (len(tests) > 1 or tests != around)):
            return None
        if not tests:
            return f"{scaler}.unscale_({text})"
        ((test, came_out),) = tests
        return f"if {test}:\n    {scaler}.unscale_({text})" if came_out and "(" not in test else None

    def _tests_beside(self, record: CallRecord) -> set[tuple[str, bool]]:
        """The tests that decided that the call is reached, and not that the gradients are clipped."""
        facts = self._facts
        around = {(facts.text_of(test), came_out) for test, came_out in self.call.record.guards}
        return {(facts.text_of(test), came_out) for test, came_out in record.guards} - around

    def _only_step(self) -> CallRecord | None:
        """The one `scaler.step(optimizer)` that follows in the function that clips, before it scales again.

        None where there are several, or an `unscale_` that comes too late.
        """
        clip, scaler = self.call.record, self.scale.record.receiver
        calls = self._facts.index.on(scaler.id) if isinstance(scaler, Object) else ()
        used = [record for record in calls if record.receiver is scaler and record.frame is clip.frame]
        after = sorted((record for record in used if _row(record) > _row(clip)), key=_row)
        names = [record.name for record in after]
        names = names[: names.index("scale")] if "scale" in names else names
        is_plain = names.count("step") == 1 and "unscale_" not in names
        return after[names.index("step")] if is_plain else None

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
    """The calls that clip gradients of a loss that this module scales, the first one after each `backward` alone."""
    seen: set[int] = set()
    for record in facts.records:
        state = record.state.get("scaled")
        if state is None or not _clips(facts, record):
            continue
        for scale in _scales_of(facts, state):
            if scale.id not in seen and facts.place(scale.node).path == facts.source.path:
                seen.add(scale.id)
                yield Clipping(facts, Call(facts, record), Call(facts, scale))


def _row(record: CallRecord) -> int:
    return getattr(record.node, "lineno", 0)


def _are_scaled(facts: Facts, record: CallRecord) -> bool:
    """Whether a clip may come after the `backward` of a scaled loss."""
    state = record.state.get("scaled")
    return state is not None and any(True for _ in _scales_of(facts, state))


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


class HalfTraining:
    """Weights in float16 come to what trains them with a loss scaler."""

    __slots__ = ("_facts", "_model", "call", "half", "scaler")

    def __init__(self, facts: Facts, call: Call, scaler: str, model: Object, half: Choice) -> None:
        self._facts = facts
        self._model = model
        self.call = call
        """The call that scales the loss, or that gives the model to the trainer."""
        self.scaler = scaler
        """The scaler, or the setting that brings one along, as it is written."""
        self.half = half
        """Float16, and where the weights were asked to be so."""

    @property
    def is_trained(self) -> Truth:
        """Whether the float16 weights themselves get gradients that the scaler then refuses."""
        facts, machine, model = self._facts, self._facts.machine, self._model
        if not machine.is_complete or any(may_be_frozen(machine, one) for one in self._parts()):
            return answer(UNKNOWN)
        name = self.call.name
        if name in {"scale", *library.PREPARE_METHODS}:
            return answer(are_optimized(facts, model) if self._reaches_gradient(model) else UNKNOWN)
        if name == "fit":
            has_step = isinstance(model.cls, Class) and model.cls.find("training_step") is not None
            return answer(YES if has_step or self._reaches_gradient(model) else UNKNOWN)
        made = self.call.record.result
        starts = [record for record in facts.records if _is_start(record, made)]
        is_plain = self.call.passes("peft_config") is NO
        return answer(YES if starts and is_plain else UNKNOWN)

    def _parts(self) -> list[Object]:
        return [self._model, *self._facts.machine.held.get(self._model.id, {}).values()]

    def _reaches_gradient(self, model: Object) -> bool:
        """Whether gradients are computed of what the model, or one made in the same place, computes."""
        reached = self._facts.machine.reached_gradient
        forwards = [forward for forward in self._facts.calls("()") if forward.record.id in reached]
        return any(
            isinstance(one.record.receiver, Object) and one.record.receiver.node is model.node and one.gradients is YES
            for one in forwards
        )


def _is_start(record: CallRecord, trainer: Value) -> bool:
    """Whether the call is `trainer.train()`."""
    receiver = record.receiver
    if record.name == "()" and isinstance(receiver, Object):
        return receiver.name == "train" and receiver.parent is trainer
    return record.name == "train" and receiver is trainer


def half_trainings(facts: Facts) -> Iterator[HalfTraining]:
    """Where weights in float16 come to what trains with a loss scaler."""
    for record in facts.records:
        setting = _setting_of_scaler(facts, record) if record.state else None
        if setting is not None:
            for model, half in _half_models(facts, record):
                yield HalfTraining(facts, Call(facts, record), setting, model, half)
        elif record.name == "scale" and is_scaler(facts, record.receiver) and may_scale(facts, record.receiver):
            yield from _scaled(facts, Call(facts, record))


def _scaled(facts: Facts, scale: Call) -> Iterator[HalfTraining]:
    """The models in float16 whose loss a scaler scales, if it steps or unscales."""
    scaler, sources = scale.record.receiver, facts.machine.flow_of(scale.record.arguments)
    if not any(record.receiver is scaler for record in facts.index.named(("step", "unscale_"))):
        return
    for forward in facts.forwards():
        model = forward.record.receiver
        halves = [half for half in forward.states("dtype") if half.value == "float16"]
        if forward.record.id in sources and isinstance(model, Object) and halves:
            yield HalfTraining(facts, scale, scale.callee.rpartition(".")[0], model, halves[0])


def _half_models(facts: Facts, record: CallRecord) -> Iterator[tuple[Object, Choice]]:
    """The models that a call is given, or that those hold, in float16."""
    given = [option for value in record.arguments.values() for option, _ in options(value)]
    for model in (option for option in given if isinstance(option, Object)):
        for part in (model, *facts.machine.held.get(model.id, {}).values()):
            dtype = record.state.get(f"dtype {part.id}")
            found = facts.choices(dtype) if dtype is not None else []
            halves = [half for half in found if half.value == "float16"]
            if halves and (len(found) == 1 or all(half.conditions for half in found)):
                yield part, halves[0]
                break


def _setting_of_scaler(facts: Facts, record: CallRecord) -> str | None:
    """The setting, as it is written, by which what gets a model here trains it with a loss scaler; None without one."""
    if not any(key.startswith("dtype ") for key in record.state):
        return None
    if _is_trainer(facts, record):
        settings = record.arguments.get("args", 1)
        name = "fp16"
    else:
        settings, name = record.receiver, _SETTINGS.get(_class_of(record.receiver), "")
    call = settings.call if isinstance(settings, (Object, Opaque)) else None
    made = facts.machine.calls.get(call) if call is not None else None
    value = made.arguments.get(name) if made is not None else None
    if made is None or value is None or not _switches_on(value, _SCALES[name]):
        return None
    if not made.arguments.is_complete or not _SCALES_OTHERWISE.isdisjoint(made.arguments.keywords):
        return None
    place = Call(facts, made).places_of_argument(name, None)[0]
    return place.text if place is not None else name


def _switches_on(value: Value, settings: frozenset[object]) -> bool:
    """Whether the setting is certainly one of these, or is on wherever there is a GPU."""
    if isinstance(value, Opaque):
        return value.cls == "torch.cuda.is_available" and True in settings
    return isinstance(value, Constant) and not value.may and value.value in settings


def _is_trainer(facts: Facts, record: CallRecord) -> bool:
    receiver = record.receiver
    kind = facts.machine.kind_of_class(receiver) if isinstance(receiver, Class) else kind_of(record.name)
    return kind == "trainer"


def _class_of(value: Value | None) -> str:
    cls = value.cls if isinstance(value, (Object, Opaque)) else None
    return cls if isinstance(cls, str) else ""


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
