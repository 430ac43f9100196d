"""Which calls make models and tokenizers work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Object
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts

__all__ = ["TOKENIZATIONS", "counted", "is_model", "runs_of_models", "tokenizations"]

TOKENIZATIONS = frozenset({"()", "encode", "encode_plus", "batch_encode_plus", "apply_chat_template"})
_USES_OF_A_MODEL = frozenset(
    {"eval", "train", "parameters", "state_dict", "zero_grad", "named_parameters", "generate", "requires_grad_"}
)


def is_model(facts: Facts, value: Object) -> Truth:
    """Whether it is a module that computes: by its class, or by two independent uses."""
    machine = facts.machine
    kind = machine.kind(value)
    if kind is not None:
        return answer(YES if kind in {"model", "module"} else NO)
    if value.parent is not None and machine.kind(value.parent) == "model" and value.name in library.SUBMODULES:
        return answer(YES)
    if not value.is_outside or isinstance(value.cls, (str, Class)):
        return answer(UNKNOWN)
    uses = machine.uses.get(value.id, set())
    is_one = "()" in uses and bool(uses & _USES_OF_A_MODEL)
    return answer(YES if is_one else UNKNOWN)


def runs_of_models(facts: Facts) -> Iterator[Call]:
    """The calls that make a model compute: forwards and `generate`, and those of pipelines."""
    for record in facts.index.named(("()", "generate")):
        model = record.receiver
        if isinstance(model, Object) and (facts.machine.kind(model) == "pipeline" or facts.is_model(model) is YES):
            yield Call(facts, record)


def tokenizations(facts: Facts) -> Iterator[Call]:
    """The calls that turn text into ids, or make a pipeline do so."""
    for record in facts.index.named(TOKENIZATIONS):
        kind = facts.machine.kind(record.receiver) if isinstance(record.receiver, Object) else None
        if kind == "tokenizer" or (kind == "pipeline" and record.name == "()"):
            yield Call(facts, record)


def counted(facts: Facts) -> frozenset[int]:
    """Texts that were split, or tokenized whole and then counted or taken apart: their length is known."""
    machine = facts.machine
    found: set[int] = set()
    known = machine.length_examined | machine.sliced
    for call in facts.tokenizations():
        if call.record.id in known and call.cuts_text is None:
            found |= machine.flow_of(call.record.arguments) | call.record.flow
    for record in facts.index.named_so(lambda name: library.splits_text(name) or name in library.MAKES_TOKENS):
        if record.id in known or library.splits_text(record.name):
            found |= machine.flow_of(record.arguments)
    return frozenset(found)
