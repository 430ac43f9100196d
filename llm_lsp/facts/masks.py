"""Runs of models on padded ids without the mask that says which of them are padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.access import is_ids
from llm_lsp.facts.checkpoints import checkpoints_of
from llm_lsp.facts.generation import is_of_transformers
from llm_lsp.facts.padding import is_decoder_only, pads
from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import inputs

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["UnmaskedRun", "unmasked_runs"]

_SETS = frozenset({".pad_token", ".pad_token_id", "add_special_tokens"})
_IDS = (".input_ids", '["input_ids"]', "['input_ids']")


class UnmaskedRun:
    """A call of a model, or of its `generate`, that is given ids of padded texts and no mask."""

    __slots__ = ("_facts", "_ids", "_tokenization", "call")

    def __init__(self, facts: Facts, record: CallRecord, ids: str, tokenization: CallRecord) -> None:
        self._facts = facts
        self.call = Call(facts, record)
        self._ids = ids
        """The argument that gives the ids, where it is passed by name."""
        self._tokenization = tokenization

    @property
    def padding_place(self) -> Place:
        """The tokenization that pads."""
        return self._facts.place(self._tokenization.node)

    @property
    def attends_to_padding(self) -> Truth:
        """Whether the model then takes the padding for text; NO where it makes the mask itself."""
        if self.call.record.name == "generate":
            return answer(self._of_generate())
        return answer(self._of_forward())

    @property
    def mask_text(self) -> str | None:
        """How to write the mask that belongs to the ids; None where that isn't plain."""
        places = self.call.places_of_argument(self._ids, 0)
        text = places[1].text if places[1] is not None else ""
        if not text.endswith(_IDS) or "return_attention_mask" in self._tokenization.arguments.keywords:
            return None
        return text.replace("input_ids", "attention_mask")

    def _of_generate(self) -> Truth:
        """`generate` tells padding by its id, unless that ends a text as well (`_prepare_attention_mask_for_generation`)."""
        record = self.call.record
        if not is_decoder_only(self._facts, record) and not self._is_unknown_model():
            return UNKNOWN
        pad, tokenizer = self._tokenization.state.get("pad_token"), self._tokenization.receiver
        if (
            pad is None
            or not isinstance(tokenizer, Object)
            or not isinstance(pad, Object)
            or pad.parent is not tokenizer
        ):
            return UNKNOWN
        loaded = self._facts.loaded(tokenizer)
        is_set = not self._facts.machine.uses.get(tokenizer.id, set()).isdisjoint(_SETS)
        if pad.name != "pad_token" or is_set or loaded is None:
            return YES if pad.name == "eos_token" else UNKNOWN
        known = checkpoints_of(self._facts, loaded.names)
        return YES if known and all(inputs.pads_with_end_of_text(one) for one in known) else UNKNOWN

    def _of_forward(self) -> Truth:
        """A forward makes no mask; padding behind a text is seen by nothing where no position looks ahead."""
        record = self.call.record
        model = record.receiver
        load = (
            self._facts.machine.calls.get(model.call) if isinstance(model, Object) and model.call is not None else None
        )
        if load is None or not isinstance(model, Object) or load.name.count(".") < 2:
            return UNKNOWN
        if is_decoder_only(self._facts, record):
            side = self._tokenization.arguments.get("padding_side") or self._tokenization.state.get("padding_side")
            return YES if isinstance(side, Constant) and side.value == "left" else UNKNOWN
        types = self._facts.model_types(model, load.name)
        return YES if types and inputs.ATTENDS_BOTH_WAYS.issuperset(types) else UNKNOWN

    def _is_unknown_model(self) -> bool:
        model = self.call.record.receiver
        return isinstance(model, Object) and model.is_outside and self._facts.machine.kind(model) is None


def unmasked_runs(facts: Facts) -> Iterator[UnmaskedRun]:
    """The runs of transformers' models on padded ids that get no mask, in order."""
    for record in facts.index.named(("()", "generate")):
        arguments = record.arguments
        is_run = record.name == "()" or (record.name == "generate" and is_of_transformers(facts, record))
        if not is_run or not _is_of_a_model(facts, record) or _may_have_mask(record):
            continue
        name = "inputs" if "inputs" in arguments.keywords else "input_ids"
        ids = arguments.get(name, 0)
        if ids is None or not is_ids(ids):
            continue
        # Ids that are cut to pieces, or put together, have no mask that is near.
        made = facts.machine.calls.get(ids.call) if isinstance(ids, Opaque) and ids.call is not None else None
        tokenizer = made.receiver if made is not None else None
        if made is not None and isinstance(tokenizer, Object) and facts.is_tokenizer(tokenizer) and pads(made):
            yield UnmaskedRun(facts, record, name, made)


def _is_of_a_model(facts: Facts, record: CallRecord) -> bool:
    model = record.receiver
    if not isinstance(model, Object):
        return False
    is_known = isinstance(model.cls, str) and facts.machine.kind(model) == "model"
    return is_known or record.name == "generate"


def _may_have_mask(record: CallRecord) -> bool:
    arguments = record.arguments
    is_second = record.name == "()" and len(arguments.positional) > 1
    return not arguments.is_complete or is_second or any("mask" in name for name in arguments.keywords)
