"""Ids of tokens that stay on the CPU while the model that gets them is elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Range
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["TokenizedInputs", "tokenized_inputs"]

_ACCELERATORS = frozenset({"cuda", "mps", "xpu", "npu", "hpu"})
_MOVES = frozenset({"to", "cuda", "pin_memory", "send_to_device", "_move_to", "prepare", "prepare_inputs"})
_WRAPS = frozenset(
    {"DataParallel", "DistributedDataParallel", "FullyShardedDataParallel", "FSDP", "fully_shard", "dispatch_model"}
)
"""What moves the inputs of the model that it wraps."""


class TokenizedInputs:
    """Tensors that a tokenizer has made, where a model is given them."""

    __slots__ = ("_facts", "_tokenization", "call")

    def __init__(self, facts: Facts, record: CallRecord, tokenization: CallRecord) -> None:
        self._facts = facts
        self._tokenization = tokenization
        self.call = Call(facts, record)

    @property
    def tokenization_place(self) -> Place:
        return self._facts.place(self._tokenization.node)

    @property
    def device(self) -> str:
        """Where the model is, or may be, instead of on the CPU."""
        return next((str(one.value) for one in self.call.devices() if one.value in _ACCELERATORS), "")

    @property
    def stay_behind(self) -> Truth:
        """Whether the model is moved to another device, and the tensors are not; NO where it is on the CPU, too."""
        is_changed = self._tokenization.id in self._facts.machine.overwritten or self._are_moved()
        if not self._facts.is_whole or is_changed or self._moves_its_inputs():
            return answer(UNKNOWN)
        found = self.call.devices()
        return answer(UNKNOWN if not found else YES if self.device else NO)

    @property
    def moved(self) -> tuple[Range, str] | None:
        """Where to move them behind the tokenization, and how to write that; None where the model has no name there."""
        model, place = self.call.callee.removesuffix(".generate"), self.tokenization_place
        is_near = self.call.record.frame is self._tokenization.frame and place.path == self._facts.source.path
        is_named = all(part.isidentifier() for part in model.split("."))
        return (Range(place.range.end, place.range.end), f".to({model}.device)") if is_near and is_named else None

    def _moves_its_inputs(self) -> bool:
        """Whether the model may be wrapped in what moves whatever comes in, or has a hook that does."""
        wraps = self._facts.index.named_so(
            lambda name: name.rpartition(".")[2] in _WRAPS or name.endswith("register_forward_pre_hook")
        )
        model = self.call.record.receiver
        load = self._facts.machine.calls.get(model.call or 0) if isinstance(model, Object) else None
        is_placed = load is None or "device_map" in load.arguments.keywords or not load.arguments.is_complete
        return bool(wraps) or is_placed

    def _are_moved(self) -> bool:
        """Whether anything that was made of them, or holds them, is moved, here or in code that is not seen."""
        id = self._tokenization.id
        for record in self._facts.records:
            given = frozenset[int]() if record.is_resolved else self._facts.machine.flow_of(record.arguments)
            if record.name.rpartition(".")[2] in _MOVES:
                receiver = (
                    self._facts.machine.flow(record.receiver) if record.receiver is not None else frozenset[int]()
                )
                given = receiver | self._facts.machine.flow_of(record.arguments)
            if id in given:
                return True
        return False


def tokenized_inputs(facts: Facts) -> Iterator[TokenizedInputs]:
    """The runs of models of transformers on tensors as a tokenizer has made them, in order."""
    wholes = {id(part): whole for whole, part in facts.machine.parts.values()}
    for run in facts.runs_of_models():
        model = run.record.receiver
        if run.is_of_a_pipeline or not isinstance(model, Object) or not isinstance(model.cls, str):
            continue
        arguments = run.record.arguments
        ids = arguments.get("input_ids", 0) or arguments.get("inputs")
        for value in (ids,) if ids is not None else arguments.spread:
            made = _tokenization_of(facts, value, wholes)
            if made is not None:
                yield TokenizedInputs(facts, run.record, made)


def _tokenization_of(facts: Facts, value: Value, wholes: dict[int, Value]) -> CallRecord | None:
    """The tokenization whose own tensors these are."""
    if len(options(value)) > 1 or not isinstance(value, Opaque) or value.call is None:
        return None
    made, whole = facts.machine.calls.get(value.call), wholes.get(id(value), value)
    tokenizer = made.receiver if made is not None else None
    if (
        made is None
        or made.result is not whole
        or not isinstance(tokenizer, Object)
        or not facts.is_tokenizer(tokenizer)
    ):
        return None
    tensors = made.arguments.get("return_tensors")
    is_torch = isinstance(tensors, Constant) and tensors.value == "pt"
    return made if is_torch and isinstance(made.node, ast.Call) else None
