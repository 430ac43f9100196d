"""Conversations that a chat template makes prompts of, and whether a prompt ends where an answer begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import checkpoints_of
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Tuple, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import inputs

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["ChatPrompt", "chat_prompts"]

_ASKS = "add_generation_prompt"
_DECIDES = frozenset(
    {"continue_final_message", "chat_template", "return_assistant_tokens_mask", "tools_in_user_message"}
)
"""Arguments after which a prompt may end otherwise."""


class ChatPrompt:
    """A conversation that is made a prompt, which a model continues as it is."""

    __slots__ = ("_facts", "_generation", "call")

    def __init__(self, facts: Facts, record: CallRecord, generation: CallRecord) -> None:
        self._facts = facts
        self.call = Call(facts, record)
        self._generation = generation

    @property
    def generation_place(self) -> Place:
        """The call that continues the prompt."""
        return self._facts.place(self._generation.node)

    @property
    def begins_answer(self) -> Truth:
        """Whether the prompt ends with what begins an answer; NO where the model may go on with what the user says."""
        record, tokenizer = self.call.record, self.call.record.receiver
        asked = record.arguments.get(_ASKS)
        if asked is not None and not (isinstance(asked, Constant) and not asked.may and asked.value is False):
            return answer(YES if isinstance(asked, Constant) and asked.value is True and not asked.may else UNKNOWN)
        role = record.state.get("role")
        ends_with_answer = role is not None and not (
            isinstance(role, Constant) and role.value in {"user", "system", "tool"}
        )
        is_hidden = not record.arguments.is_complete or not _DECIDES.isdisjoint(record.arguments.keywords)
        if ends_with_answer or is_hidden or not isinstance(tokenizer, Object) or self._has_own_template(tokenizer):
            return answer(UNKNOWN)
        return answer(NO)

    def _has_own_template(self, tokenizer: Object) -> bool:
        """Whether the program sets the template, or the checkpoint's has nothing that begins an answer."""
        if ".chat_template" in self._facts.machine.uses.get(tokenizer.id, ()):
            return True
        loaded = self._facts.loaded(tokenizer)
        known = checkpoints_of(self._facts, loaded.names) if loaded is not None else None
        return any(inputs.begins_no_answers(one) for one in known or ())


def chat_prompts(facts: Facts) -> Iterator[ChatPrompt]:
    """The conversations that become prompts of a `generate` or of a pipeline, nothing added to them, in order."""
    calls = facts.machine.calls
    templates = {record.id for record in facts.records if record.name == "apply_chat_template"}
    for record in facts.records if templates else ():
        is_pipeline = record.name == "()" and Call(facts, record).is_of_a_pipeline
        if record.name != "generate" and not is_pipeline:
            continue
        found: set[int] = set()
        given = (*record.arguments.values(), *_texts_of(record))
        for made in (calls[id] for value in given for id in _makers_of(facts, value) if id in calls):
            found |= {made.id} & templates
            for text in _texts_of(made) if made.id not in templates else ():
                found |= {text.call} & templates if isinstance(text, Opaque) and text.call is not None else set()
        for id in sorted(found):
            yield ChatPrompt(facts, calls[id], record)


def _makers_of(facts: Facts, value: Value) -> Iterator[int]:
    """The calls that a value is the result of, moved to a device or not."""
    source = value.call if isinstance(value, Opaque) else None
    made = facts.machine.calls.get(source) if source is not None else None
    if made is not None and made.name == "to" and made.receiver is not None:
        yield from _makers_of(facts, made.receiver)
    elif source is not None:
        yield source
    elif isinstance(value, Object) and isinstance(value.node, ast.DictComp):
        yield from facts.machine.flow(value)  # `{name: tensor.to(device) for name, tensor in encoded.items()}`


def _texts_of(made: CallRecord) -> list[Value]:
    """What is tokenized: the text, or each of the list."""
    text = made.state.get("texts") or made.arguments.get("text", 0)
    return list(text.items) if isinstance(text, Tuple) else [text] if text is not None else []
