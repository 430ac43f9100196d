"""Texts that a model has written behind its prompt, and whether the prompt is taken away before they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Range
from llm_lsp.facts.access import is_ids
from llm_lsp.facts.events import CallRecord
from llm_lsp.facts.padding import is_decoder_only, padded_prompts, pads
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place

__all__ = ["WrittenText", "written_texts"]

_DECODES = frozenset({"decode", "batch_decode"})
_READS_VALUES = frozenset({"json.loads", "builtins.float", "builtins.int", "ast.literal_eval", "orjson.loads"})


class WrittenText:
    """The text of a decoder-only model's output, or the part of it that the program takes for the answer."""

    __slots__ = ("_facts", "_generation", "_record")

    def __init__(self, facts: Facts, record: CallRecord, generation: CallRecord) -> None:
        self._facts = facts
        self._record = record
        """The call that decodes, or the slice that leaves out the prompt."""
        self._generation = generation

    @property
    def call(self) -> Call:
        return Call(self._facts, self._record)

    @property
    def generation_place(self) -> Place:
        return self._facts.place(self._generation.node)

    @property
    def is_cut_by_another_width(self) -> bool:
        """Whether a slice leaves out something, though not what stands before the answer."""
        return self._record.name == "[n:]"

    @property
    def holds_prompt(self) -> Truth:
        """Whether the prompt, or a part of it, is still in the text."""
        if self._record.name == "[n:]":
            return answer(self._of_slice())
        return answer(self._of_whole())

    @property
    def is_used_as_answer(self) -> Truth:
        """Whether the program compares it, reads a value in it, or hands it on as what the model answers."""
        machine, id = self._facts.machine, self._record.id
        if self._record.name == "[n:]" or id in machine.answered:
            return answer(YES)
        for record in self._facts.records:
            given = record.arguments.get("predictions")
            is_read = record.name in _READS_VALUES and id in machine.flow_of(record.arguments)
            if is_read or (given is not None and id in machine.flow(given)):
                return answer(YES)
        return answer(UNKNOWN)

    @property
    def without_prompt(self) -> tuple[Range, str] | None:
        """Where what is decoded stands, and how to write it without the prompt; None where that isn't plain."""
        node, made = self._record.node, self._generation
        spread = next((word.value for word in getattr(made.node, "keywords", ()) if word.arg is None), None)
        if self._record.frame is not made.frame or not isinstance(spread, ast.Name) or not isinstance(node, ast.Call):
            return None
        if not node.args or not any(is_ids(value) for value in made.arguments.spread):
            return None
        given, width = node.args[0], f'{spread.id}["input_ids"].shape[1]:'
        place = self._facts.place(given)
        if isinstance(given, ast.Name) and self._record.name == "batch_decode":
            return place.range, f"{given.id}[:, {width}]"
        is_row = isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant)
        return (place.range, f"{place.text}[{width}]") if is_row and self._record.name == "decode" else None

    def _of_whole(self) -> Truth:
        """A text that nobody takes anything off."""
        machine, id = self._facts.machine, self._record.id
        touched = machine.trimmed | machine.cut | machine.sliced | machine.escaped
        if {id, self._generation.id} & touched or not self._facts.is_whole or self._is_taken_apart(id):
            return UNKNOWN
        return YES

    def _is_taken_apart(self, id: int) -> bool:
        for record in self._facts.records:
            if record.name.rpartition(".")[2] in library.TAKES_APART:
                receiver = record.receiver.sources if record.receiver is not None else frozenset[int]()
                if id in receiver or id in self._facts.machine.flow_of(record.arguments):
                    return True
            elif not record.is_resolved and id in self._facts.machine.flow_of(record.arguments):
                return True
        return False

    def _of_slice(self) -> Truth:
        """What is left out is as long as an unpadded prompt, where padding stands before the prompts."""
        start = self._record.arguments.keywords["start"]
        sides = {batch.is_padded_right for batch in padded_prompts(self._facts, Call(self._facts, self._generation))}
        if sides != {NO} or not isinstance(start, Opaque):
            return UNKNOWN
        made = self._facts.machine.calls.get(start.call) if start.call is not None else None
        if made is not None and made.name == "sum" and isinstance(made.receiver, Opaque):
            return (
                YES if made.receiver.cls == library.MASK and made.receiver.sources & self._generation.flow else UNKNOWN
            )
        others = [
            one for id in start.sources if (one := self._facts.machine.calls.get(id)) and _tokenizes(self._facts, one)
        ]
        is_other = bool(others) and not any(one.id in self._generation.flow or pads(one) for one in others)
        return YES if is_other else UNKNOWN


def written_texts(facts: Facts) -> Iterator[WrittenText]:
    """The texts that decoder-only models have written, and the slices that are to leave out their prompts, in order."""
    generations = [
        record for record in facts.index.named(("generate",)) if is_decoder_only(facts, record) and _has_prompt(record)
    ]
    for record in facts.index.named(("[n:]", *_DECODES)) if generations else ():
        flow = record.flow if record.name == "[n:]" else facts.machine.flow_of(record.arguments)
        made = [one for one in generations if one.id in flow]
        # One call of several models, each of which continues its prompt: `for model in (first, second):`.
        if made and all(one.node is made[0].node for one in made):
            yield WrittenText(facts, record, made[0])


def _has_prompt(record: CallRecord) -> bool:
    """Whether ids go in: what is written behind embeddings holds none of them."""
    arguments = record.arguments
    given = arguments.get("input_ids", 0) or arguments.get("inputs") or arguments.spread
    settings = arguments.get("return_dict_in_generate")
    is_plain = settings is None or (isinstance(settings, Constant) and settings.value is False)
    return bool(given) and is_plain and "inputs_embeds" not in arguments.keywords


def _tokenizes(facts: Facts, record: CallRecord) -> bool:
    return isinstance(record.receiver, Object) and facts.machine.kind(record.receiver) == "tokenizer"
