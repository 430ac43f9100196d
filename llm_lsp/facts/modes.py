"""What training and evaluation mode mean to a model, and who may switch them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.values import Class, Object, Value, options
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord

__all__ = ["is_same_object", "is_the_same_in_both_modes", "may_switch"]

_DEEPEST_WRAPPER = 3
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
