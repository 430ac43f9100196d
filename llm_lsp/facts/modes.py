"""What training and evaluation mode mean to a model, and who may switch them."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["Inference", "inferences", "is_same_object", "is_the_same_in_both_modes", "may_switch", "switch_of"]

_DEEPEST_WRAPPER = 3
_WORDS = re.compile(r"[a-z]+")
_EVALUATES = frozenset({
    "eval", "evaluate", "evaluation", "val", "valid", "validate", "validation", "dev", "test", "testing", "predict", "prediction", "predictions",
    "infer", "inference", "accuracy", "held",
})  # fmt: skip
"""Words in the names of functions and loaders that say what is computed is what the model can do."""
_SAMPLES_ON_PURPOSE = frozenset({"mc", "dropout", "uncertainty", "stochastic", "ensemble"})
"""Words in the names of functions that want other results each time."""
_HARMLESS_WORDS = ("save", "log", "clip", "print", "count", "push", "upload", "export", "watch", "summary", "norm")
"""Words in the names of unknown functions that are given a model and switch no mode."""


def is_same_object(value: Value | None, other: Object | None) -> bool:
    """Whether both are one object of the program."""
    return isinstance(value, Object) and other is not None and value.id == other.id


def may_switch(facts: Facts, record: CallRecord, model: Object) -> bool:
    """Whether it is unknown what a call does, and it gets the model, or what holds it."""
    name = record.name.rpartition(".")[2].lower()
    if is_same_object(record.receiver, model):
        return "train" in name.replace("pretrained", "").replace("trainable", "")
    if record.is_resolved or any(word in name for word in _HARMLESS_WORDS):
        return False
    given = [option for value in record.arguments.values() for option, _ in options(value)]
    return any(_is_or_holds(facts, option, model) for option in given if isinstance(option, Object))


def _is_or_holds(facts: Facts, value: Object, model: Object) -> bool:
    held = facts.machine.held.get(value.id, {})
    is_it = is_same_object(value, model) or is_same_object(value, model.parent)
    return is_it or any(is_same_object(part, model) for part in held.values())


def switch_of(facts: Facts, switch: CallRecord, id: int) -> CallRecord:
    """The same call on one of the models that its name stands for: `for net in (G, D): net.eval()`."""
    if isinstance(switch.receiver, Object) and switch.receiver.id == id:
        return switch
    same = (one for one in facts.index.on(id) if one.node is switch.node and one.frame is switch.frame)
    return next(same, switch)


class Inference:
    """A forward with gradients off, or whose result never reaches any."""

    def __init__(self, facts: Facts, call: Call, model: Object) -> None:
        self._facts = facts
        self._model = model
        self.call = call

    @property
    def is_in_training_mode(self) -> Truth:
        """Whether the model certainly is in training mode when it is called."""
        mode = self.call.is_in_evaluation_mode
        if mode is not NO:
            return answer({YES: NO, UNKNOWN: UNKNOWN}[mode])
        facts, own = self._facts, self.call.record
        before = (
            record
            for root in {own.frame.root, facts.machine.frames[0]} & facts.index.roots
            for record in facts.index.under(root)
            if record.id != own.id and not is_same_object(record.receiver, self._model)
        )
        is_seen = facts.is_whole and not any(may_switch(facts, record, self._model) for record in before)
        return answer(YES if is_seen else UNKNOWN)

    @property
    def differs_by_mode(self) -> Truth:
        """Whether the model computes something else in training mode, as dropout and batch normalisation make it."""
        return answer(differs_by_mode(self._facts, self._model))

    @property
    def is_of_what_was_learned(self) -> Truth:
        """Whether the result is meant to show what the model has learned, rather than to serve its training.

        Of a model that the program trains, only the names of functions and loaders say so: a policy is run without
        gradients in training mode on purpose.
        """
        machine, model = self._facts.machine, self._model
        words = self._words
        if not words.isdisjoint(_SAMPLES_ON_PURPOSE):
            return answer(NO)
        passes = {record.frame for record in self._training_passes}
        if not passes:
            # `train()` without any training: somebody wants dropout to go on.
            wants_dropout = "train" in machine.uses.get(model.id, ())
            return answer(YES if self._is_loaded_before and not wants_dropout else UNKNOWN)
        # What comes after it, as at the end of an evaluation, says nothing of the mode that is wanted here.
        is_switched_here = any(
            machine.calls[id].frame is self.call.record.frame and machine.calls[id].frame not in passes
            for id in machine.switches.get(model.id, ())
            if id in machine.calls and id < self.call.record.id
        )
        return answer(UNKNOWN if is_switched_here or words.isdisjoint(_EVALUATES) else YES)

    @property
    def _is_loaded_before(self) -> bool:
        """Whether the model was given weights that were saved."""
        own = self._facts.index.on(self._model.id)
        return any(record.name == "load_state_dict" and record.id < self.call.record.id for record in own)

    @cached_property
    def _training_passes(self) -> list[CallRecord]:
        """The forwards of the model that gradients are computed of."""
        reached = self._facts.machine.reached_gradient
        return [record for record in self._facts.index.on(self._model.id) if record.id in reached]

    @property
    def _words(self) -> set[str]:
        """The words in the names of the functions, and of what the loops run through, in which nothing is trained."""
        record, facts = self.call.record, self._facts
        frames = {one.frame for one in self._training_passes}
        trained_in = {loop for one in self._training_passes for loop in one.loops}
        loops = [loop for loop in record.loops if loop not in trained_in]
        texts = [facts.text_of(loop.iter) for loop in loops if isinstance(loop, (ast.For, ast.AsyncFor))]
        inner = takewhile(lambda frame: frame not in frames, record.frame.chain())
        texts += [frame.function.name for frame in inner if frame.function is not None]
        return {word for text in texts for word in _WORDS.findall(text.lower())}

    @property
    def made(self) -> Place | None:
        """Where the program makes the model."""
        made = self._facts.machine.calls.get(self._model.call or 0)
        return self._facts.place(made.node) if made is not None else None

    @property
    def switched_on(self) -> Place | None:
        """The last `train()` before."""
        machine = self._facts.machine
        switches = [
            machine.calls[id]
            for id, method in machine.switches.get(self._model.id, {}).items()
            if method == "train" and id in machine.calls and id < self.call.record.id
        ]
        return self._facts.place(switches[-1].node) if switches else None


def inferences(facts: Facts) -> Iterator[Inference]:
    """The forwards of models, outside of their own methods, of which no gradients are computed."""
    for call in facts.forwards():
        model = call.record.receiver
        is_inference = call.gradients is NO or call.reaches_gradient is NO
        if is_inference and isinstance(model, Object) and not call.is_in_a_forward:
            yield Inference(facts, call, model)


def differs_by_mode(facts: Facts, module: Object) -> Truth:
    """Whether some layer of the module is known to compute something else in training mode; NO if none does."""
    if is_the_same_in_both_modes(facts, module):
        return NO
    cls = module.cls
    if isinstance(cls, Class):
        return YES if _has_layers_that_differ(facts, cls) else UNKNOWN
    made = facts.machine.calls.get(module.call or 0)
    if made is None or cls is None:
        return UNKNOWN
    if made.name in library.DIFFERS_BY_MODE:
        return YES if _drops(made) else UNKNOWN
    if cls in library.HOLDS_LAYERS:
        parts = [option for value in made.arguments.values() for option, _ in options(value)]
        return (
            YES if any(isinstance(part, Object) and differs_by_mode(facts, part) is YES for part in parts) else UNKNOWN
        )
    config = made.arguments.get("config", None if made.name.endswith("from_pretrained") else 0)
    load = facts.machine.calls.get(config.call or 0) if isinstance(config, Object) else None
    types = facts.model_types(module, made.name)
    if not types and load is not None and isinstance(config, Object):
        types = facts.model_types(config, load.name)
    drops = bool(types) and library.TYPES_WITH_DROPOUT.issuperset(types)
    return YES if drops and not _sets_dropout(facts, made, load) else UNKNOWN


def _sets_dropout(facts: Facts, *made: CallRecord | None) -> bool:
    """Whether the program itself says how much the model drops, where it makes the model or its config, or later."""
    names = [name for record in made if record is not None for name in record.arguments.keywords]
    objects = {record.result.id for record in made if record is not None and isinstance(record.result, Object)}
    names += [key for owner, key in facts.machine.heap if owner in objects]
    return any("drop" in name for name in names)


def _drops(made: CallRecord) -> bool:
    """Whether a layer certainly drops something, or normalises by batch: the default, or a rate that is not zero."""
    name, position = library.DIFFERS_BY_MODE[made.name]
    if not name:
        return True
    rate = made.arguments.get(name, position)
    if rate is None:
        return made.arguments.is_complete and made.name not in library.DROPS_ON_REQUEST
    return all(isinstance(one, Constant) and bool(one.value) for one, _ in options(rate))


def _has_layers_that_differ(facts: Facts, cls: Class, depth: int = 0) -> bool:
    if depth > _DEEPEST_WRAPPER:
        return False
    for record in _made_by(facts, cls):
        made = record.result
        if isinstance(record.receiver, Class):
            if record.receiver is not cls and _has_layers_that_differ(facts, record.receiver, depth + 1):
                return True
        elif record.name in library.DIFFERS_BY_MODE:
            if _drops(record):
                return True
        elif isinstance(made, Object) and facts.machine.kind(made) == "model" and differs_by_mode(facts, made) is YES:
            return True
    return False


def is_the_same_in_both_modes(facts: Facts, module: Value) -> bool:
    """Whether the module is a layer that asks for no mode, or is made of such alone."""
    cls = module.cls if isinstance(module, Object) else None
    if not isinstance(module, Object) or cls is None:
        return False
    if isinstance(cls, Class):
        return _has_indifferent_layers(facts, cls)
    made = facts.machine.calls.get(module.call or 0)
    parts = made.arguments.values() if made is not None and cls in library.HOLDS_LAYERS else ()
    return cls in library.INDIFFERENT_TO_MODE or (
        bool(parts) and all(is_the_same_in_both_modes(facts, part) for part in parts)
    )


def _has_indifferent_layers(facts: Facts, cls: Class, depth: int = 0) -> bool:
    text = "".join(facts.text_of(each.node) for each in cls.lineage())
    if depth > _DEEPEST_WRAPPER or "training" in text or "ropout" in text:
        return False
    made = _made_by(facts, cls)
    known = library.INDIFFERENT_TO_MODE | library.HOLDS_LAYERS
    return bool(made) and all(
        _has_indifferent_layers(facts, record.receiver, depth + 1)
        if isinstance(record.receiver, Class)
        else record.name in known
        for record in made
    )


def _made_by(facts: Facts, cls: Class) -> list[CallRecord]:
    """The calls that are made while an instance of the class is initialised, those of Python's own functions aside."""
    return [
        record
        for record in facts.records
        if record.frame.function is not None
        and record.frame.function.owner in cls.lineage()
        and record.frame.function.name == "__init__"
        and not record.name.startswith("builtins.")
    ]
