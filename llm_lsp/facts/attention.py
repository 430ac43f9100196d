"""Who asks a model for its attention maps, and whether it computes any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Value
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["AttentionRequest", "attention_requests"]

_RUNS = frozenset({"()", "generate"})
_FUSED = frozenset({"sdpa", "flash_attention_2", "flash_attention_3", "flex_attention"})
"""Implementations that never hold the weights of attention."""
_CHOOSES = frozenset({"set_attn_implementation", "set_attention_implementation"})
_CHOICES_ON_CONFIG = frozenset(
    {"._attn_implementation", "._attn_implementation_internal", ".output_attentions", "update"}
)
_HIDES_CHOICE = ("trust_remote_code", "gguf_file", "subfolder", "use_flash_attention_2")
"""Arguments of a load after which something else may have chosen the implementation."""


class AttentionRequest:
    """A call of a model that is to return its attention maps."""

    __slots__ = ("_facts", "_model", "call", "load")

    def __init__(self, facts: Facts, call: Call, model: Object, load: CallRecord) -> None:
        self._facts = facts
        self._model = model
        self.call = call
        self.load = Call(facts, load)
        """The call that loads the model."""

    @property
    def place(self) -> Place:
        """Where the maps are asked for."""
        argument = self.call.argument("output_attentions") or self.load.argument("output_attentions")
        place = argument.place if argument is not None else None
        return place if place is not None and place.path == self._facts.source.path else self.call.place

    @property
    def is_read(self) -> Truth:
        """Whether the program looks at the maps; UNKNOWN where nothing of it does."""
        return answer(YES if self.call.record.id in self._facts.machine.attentions_read else UNKNOWN)

    @property
    def implementation(self) -> str:
        """The implementation that is asked for; what transformers takes by itself where none is."""
        asked = self._asked
        return str(asked.value) if isinstance(asked, Constant) else "sdpa"

    @property
    def has_maps(self) -> Truth:
        """Whether the model computes attention in a way that gives maps; NO where its kernels hold none."""
        return answer(UNKNOWN if self._is_chosen_elsewhere else self._of_load())

    @property
    def _is_chosen_elsewhere(self) -> bool:
        """Whether something besides the load may choose how the model computes attention."""
        machine, model, load = self._facts.machine, self._model, self.load.record
        configs = [machine.children.get((model.id, "config"))]
        if load.arguments.get("config") is not None:
            if self._config_load is None:
                return True
            configs.append(self._given_config)
        return (
            model.id in machine.escaped
            or any(not each.arguments.is_complete for each in self._loads)
            or any(each.arguments.get(name) is not None for name in _HIDES_CHOICE for each in self._loads)
            or bool(machine.uses.get(model.id, set()) & _CHOOSES)
            or any(config is not None and self._is_told(config) for config in configs)
        )

    def _is_told(self, config: Object) -> bool:
        machine = self._facts.machine
        return bool(machine.uses.get(config.id, set()) & _CHOICES_ON_CONFIG) or config.id in machine.escaped

    @property
    def _given_config(self) -> Object | None:
        config = self.load.record.arguments.get("config")
        return config if isinstance(config, Object) else None

    @property
    def _config_load(self) -> CallRecord | None:
        """How the config is loaded that the load of the model is given."""
        config = self._given_config
        made = self._facts.machine.calls.get(config.call) if config is not None and config.call is not None else None
        return made if made is not None and made.name.endswith("Config.from_pretrained") else None

    @property
    def _loads(self) -> list[CallRecord]:
        """What may choose: the load of the model, and that of its config."""
        config = self._config_load
        return [self.load.record, config] if config is not None else [self.load.record]

    @property
    def _asked(self) -> Value | None:
        """The implementation that one of the loads asks for."""
        asked = (load.arguments.get("attn_implementation") for load in self._loads)
        return next((each for each in asked if each is not None), None)

    def _of_load(self) -> Truth:
        asked = self._asked
        if asked is None:
            # A config that is told to give attentions chooses `eager` itself (read in transformers 5.23).
            if any(load.arguments.get("output_attentions") is not None for load in self._loads):
                return UNKNOWN
            return {True: NO, False: YES, None: UNKNOWN}[self._runs_sdpa]
        is_fused = isinstance(asked, Constant) and not asked.may and asked.value in _FUSED
        return NO if is_fused else UNKNOWN

    @property
    def _runs_sdpa(self) -> bool | None:
        """What transformers takes for this type of models, where nobody chooses."""
        from llm_lsp.knowledge.auto_classes import auto_classes

        types = self._facts.model_types(self._model, self.load.record.name)
        known = {found.runs_sdpa if (found := auto_classes(each)) is not None else None for each in types}
        return known.pop() if len(known) == 1 else None


def attention_requests(facts: Facts) -> Iterator[AttentionRequest]:
    """The calls that ask for attention maps of a model that the program loads, in order."""
    for record in facts.index.named(_RUNS):
        model = record.receiver
        if not isinstance(model, Object) or not isinstance(model.cls, str):
            continue
        load = facts.machine.calls.get(model.call) if model.call is not None else None
        is_load = load is not None and load.name.startswith("transformers.") and load.name.endswith(".from_pretrained")
        if load is not None and is_load and _asks(facts, record, load):
            yield AttentionRequest(facts, Call(facts, record), model, load)


def _asks(facts: Facts, record: CallRecord, load: CallRecord) -> bool:
    asked = record.arguments.keywords.get("output_attentions")
    if asked is None:
        asked = _of_settings(facts, record.arguments.keywords.get("generation_config"))
    if asked is None:
        asked = load.arguments.keywords.get("output_attentions")
    return isinstance(asked, Constant) and asked.value is True and not asked.may


def _of_settings(facts: Facts, settings: Value | None) -> Value | None:
    """What a `GenerationConfig` is made with."""
    made = (
        facts.machine.calls.get(settings.call) if isinstance(settings, Object) and settings.call is not None else None
    )
    return made.arguments.keywords.get("output_attentions") if made is not None else None
