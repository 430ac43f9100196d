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
_HIDES_CHOICE = ("config", "output_attentions", "trust_remote_code", "gguf_file", "subfolder", "use_flash_attention_2")
"""Arguments of a load after which something else may have chosen the implementation: a config that is told to give
attentions chooses `eager` itself (read in transformers 5.23)."""


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
        argument = self.call.argument("output_attentions")
        return (argument.place if argument is not None else None) or self.call.place

    @property
    def is_read(self) -> Truth:
        """Whether the program looks at the maps; UNKNOWN where nothing of it does."""
        return answer(YES if self.call.record.id in self._facts.machine.attentions_read else UNKNOWN)

    @property
    def implementation(self) -> str:
        """The implementation that the load asks for; what transformers takes by itself where it asks for none."""
        asked = self.load.argument("attn_implementation")
        return str(asked.constant) if asked is not None else "sdpa"

    @property
    def has_maps(self) -> Truth:
        """Whether the model computes attention in a way that gives maps; NO where its kernels hold none."""
        return answer(UNKNOWN if self._is_chosen_elsewhere else self._of_load())

    @property
    def _is_chosen_elsewhere(self) -> bool:
        """Whether something besides the load may choose how the model computes attention."""
        machine, model, load = self._facts.machine, self._model, self.load.record
        config = machine.children.get((model.id, "config"))
        uses = machine.uses.get(config.id, set()) if config is not None else set[str]()
        return (
            model.id in machine.escaped
            or not load.arguments.is_complete
            or any(load.arguments.get(name) is not None for name in _HIDES_CHOICE)
            or bool(machine.uses.get(model.id, set()) & _CHOOSES)
            or bool(uses & _CHOICES_ON_CONFIG)
            or (config is not None and config.id in machine.escaped)
        )

    def _of_load(self) -> Truth:
        asked = self.load.record.arguments.get("attn_implementation")
        if asked is None:
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
    for record in facts.records:
        model = record.receiver if record.name in _RUNS else None
        if not isinstance(model, Object) or not isinstance(model.cls, str) or not _asks(facts, record):
            continue
        load = facts.machine.calls.get(model.call) if model.call is not None else None
        if load is not None and load.name.startswith("transformers.") and load.name.endswith(".from_pretrained"):
            yield AttentionRequest(facts, Call(facts, record), model, load)


def _asks(facts: Facts, record: CallRecord) -> bool:
    asked = record.arguments.keywords.get("output_attentions")
    if asked is None:
        asked = _of_settings(facts, record.arguments.keywords.get("generation_config"))
    return isinstance(asked, Constant) and asked.value is True and not asked.may


def _of_settings(facts: Facts, settings: Value | None) -> Value | None:
    """What a `GenerationConfig` is made with."""
    made = (
        facts.machine.calls.get(settings.call) if isinstance(settings, Object) and settings.call is not None else None
    )
    return made.arguments.keywords.get("output_attentions") if made is not None else None
