"""What a program loads by name: models, tokenizers, and what pipelines bring along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.values import Class, Object, Value
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.choices import Argument, Choice
    from llm_lsp.facts.place import Place

__all__ = ["Loaded", "loaded", "loaded_by", "model_types", "pretrained_parts"]


_HIDES_FILES = frozenset({"subfolder", "gguf_file"})
"""Arguments by which a load takes other files than the checkpoint's own."""


class Loaded:
    """A model or tokenizer that the program loads by name."""

    __slots__ = ("_facts", "argument", "id", "load", "names", "object")

    def __init__(
        self, facts: Facts, object: Object | None, load: Call, argument: Argument, names: tuple[Choice, ...]
    ) -> None:
        self._facts = facts
        self.object = object
        """None for what `pipeline` loads by itself."""
        self.load = load
        """The call of `from_pretrained`, or of `pipeline`."""
        self.argument = argument
        """The argument that names the checkpoint."""
        self.names = names
        """The names that it may be loaded by; all of them are known."""
        self.id = (load.record.id, argument.name)

    @property
    def name(self) -> str:
        """The name that it is loaded by, or the first of them."""
        return str(self.names[0].value)

    @property
    def name_place(self) -> Place | None:
        """Where the name is written in the call, without its keyword."""
        return self.argument.value_place

    @property
    def text(self) -> str:
        """The name as the call writes it on one line: an expression, or the text between the quotes."""
        place = self.name_place
        return self.name if place is None or self._is_literal or "\n" in place.text else place.text

    @property
    def _is_literal(self) -> bool:
        place = self.name_place
        return place is not None and place.text.strip("\"'") == self.name

    def said(self, what: str) -> str:
        """`what`, with where its name comes from."""
        if self.text == self.name:
            return what
        return f"{what}, `{self.text}` {'defaults to it' if self.names[0].is_default else 'is its name'}"

    def can_be_loaded_with(self, other: Loaded) -> bool:
        """False if a test in one activation of a function decides for either this load or that one."""
        mine, others = self.load.record, other.load.record
        decided = dict(mine.guards) if mine.frame is others.frame else {}
        return all(decided.get(test, came_out) is came_out for test, came_out in others.guards)

    def spelling_for(self, other: Loaded) -> str | None:
        """How to write this one's name where `other` is loaded; None if it can't be written there."""
        place = self.name_place
        if place is None or other.name_place is None:
            return None
        if self._is_literal:
            return place.text
        if self._facts.is_visible(place, self.load, other.load):
            return place.text
        return f'"{self.name}"' if len(self.names) == 1 and not self.names[0].is_default else None


def loaded(facts: Facts, value: Object) -> Loaded | None:
    """How the program loads a model or tokenizer, where every name that it may be loaded by is known."""
    record = facts.machine.calls.get(value.call) if value.call is not None else None
    if record is None or not _HIDES_FILES.isdisjoint(record.arguments.keywords):
        return None
    key = "model" if record.name.endswith(".pipeline") else "pretrained_model_name_or_path"
    if record.name.startswith("sentence_transformers."):
        key = "model_name_or_path"
    return loaded_by(facts, value, Call(facts, record), key, 1 if key == "model" else 0)


def loaded_by(facts: Facts, value: Object | None, call: Call, key: str, position: int | None) -> Loaded | None:
    """What one argument of a call names; None where the name is not known."""
    argument = call.argument(key, position)
    names = facts.choices(argument.value) if argument is not None else []
    if argument is None or not names or not all(isinstance(name.value, str) for name in names):
        return None
    return Loaded(facts, value, call, argument, tuple(names))


def model_types(facts: Facts, model: Object, load: str) -> list[str]:
    """What `config.json` calls a model that `load` loads, whichever name holds; empty where one of them isn't known."""
    from llm_lsp.knowledge.auto_classes import type_of_class

    own = type_of_class(load.removesuffix(".from_pretrained").removesuffix(".from_config").rpartition(".")[2])
    known_by = facts.loaded(model) if own is None else None
    found = [facts.world.checkpoint(str(name.value)) for name in known_by.names] if known_by is not None else []
    known = [each.model_type.value for each in found if each is not None and each.model_type is not None]
    return [own] if own is not None else known if len(known) == len(found) else []


def pretrained_parts(facts: Facts, value: Value) -> list[Value]:
    """A module of the program stands for the one pretrained model in it; any other value for itself."""
    if not isinstance(value, Object) or not isinstance(value.cls, Class):
        return [value]
    held = facts.machine.held.get(value.id, {}).values()
    models = [part for part in held if facts.machine.kind(part) == "model"]
    return [*models] if len(models) == 1 else [value]
