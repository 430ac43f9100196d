"""Conversations that a chat template makes texts of: whether a prompt ends where an answer begins, how a text begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import checkpoints_of
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Tuple, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import inputs, library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["ChatPrompt", "RenderedChat", "chat_prompts", "rendered_chats"]

_ASKS = "add_generation_prompt"
_DECIDES = frozenset(
    {"continue_final_message", "chat_template", "return_assistant_tokens_mask", "tools_in_user_message"}
)
"""Arguments after which a prompt may end otherwise."""
_TOKENIZES_TEXT = frozenset({"()", "encode", "encode_plus", "batch_encode_plus"})
_CHANGES_BOS = frozenset(
    {
        ".chat_template",
        ".add_bos_token",
        ".bos_token",
        "add_bos_token",
        "bos_token",
        "add_special_tokens",
        "._tokenizer",
        ".post_processor",
    }
)
"""What is set on a tokenizer, or passed where it is loaded, after which texts may begin otherwise."""
_TOKENS_AFTER = frozenset({"eos_token", "pad_token", "sep_token"})
"""Special tokens that programs put behind a text."""


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
    templates = {record.id for record in facts.index.named(("apply_chat_template",))}
    for record in facts.index.named(("()", "generate")) if templates else ():
        if record.name == "()" and not Call(facts, record).is_of_a_pipeline:
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


class RenderedChat:
    """A text that a chat template makes of a conversation, and that is tokenized by a call of its own."""

    __slots__ = ("_facts", "_template", "call")

    def __init__(self, facts: Facts, record: CallRecord, template: CallRecord) -> None:
        self._facts = facts
        self.call = Call(facts, record)
        self._template = template

    @property
    def template_place(self) -> Place:
        """The call that renders the conversation."""
        return self._facts.place(self._template.node)

    @property
    def doubles_bos(self) -> Truth:
        """Whether template and tokenizer both write the token that begins a text; NO where the call is told not to."""
        asked = self.call.record.arguments.get("add_special_tokens")
        if isinstance(asked, Constant) and asked.value is False and not asked.may:
            return answer(NO)
        is_certain = asked is None or (isinstance(asked, Constant) and asked.value is True and not asked.may)
        if not is_certain or not self.call.record.arguments.is_complete or self._may_lose_bos():
            return answer(UNKNOWN)
        return answer(
            YES if all(self._writes_bos(one.receiver) for one in (self.call.record, self._template)) else UNKNOWN
        )

    def _writes_bos(self, tokenizer: Value | None) -> bool:
        """Whether it is the tokenizer of a checkpoint that writes it twice, as it was published."""
        loaded = self._facts.loaded(tokenizer) if isinstance(tokenizer, Object) else None
        if loaded is None or not isinstance(tokenizer, Object):
            return False
        uses = self._facts.machine.uses.get(tokenizer.id, frozenset[str]())
        load = loaded.load.record.arguments
        is_changed = tokenizer.id in self._facts.machine.escaped or not _CHANGES_BOS.isdisjoint({*uses, *load.keywords})
        if is_changed or not load.is_complete or "chat_template" in self._template.arguments.keywords:
            return False
        return all(inputs.writes_bos_twice(str(name.value)) for name in loaded.names)

    def _may_lose_bos(self) -> bool:
        """Whether the program takes something off the text."""
        machine, id = self._facts.machine, self._template.id
        if not self._facts.is_whole or id in machine.escaped | machine.cut | machine.sliced | machine.trimmed:
            return True
        return any(
            record.name.rpartition(".")[2] in library.TAKES_APART
            and (
                (record.receiver is not None and id in record.receiver.sources)
                or id in machine.flow_of(record.arguments)
            )
            for record in self._facts.records
        )


def rendered_chats(facts: Facts) -> Iterator[RenderedChat]:
    """The texts that a chat template makes, where a tokenizer is called with them as they are, in order."""
    templates = {
        call.record.id: call.record for call in facts.calls("apply_chat_template") if _is_rendered(call.record)
    }
    for call in facts.tokenizations() if templates else ():
        texts = _texts_of(call.record) if call.record.name in _TOKENIZES_TEXT and not call.is_of_a_pipeline else []
        made = [_template_of(facts, text, templates) for text in texts]
        if made and made[0] is not None and all(one is made[0] for one in made):
            yield RenderedChat(facts, call.record, made[0])


def _is_rendered(record: CallRecord) -> bool:
    tokenize = record.arguments.get("tokenize")
    return isinstance(tokenize, Constant) and tokenize.value is False and not tokenize.may


def _template_of(facts: Facts, text: Value, templates: dict[int, CallRecord]) -> CallRecord | None:
    """The template that made a text, perhaps with a special token behind it."""
    if isinstance(text, Opaque) and text.call in templates:
        return templates[text.call]
    found = [templates[id] for id in text.sources if id in templates]
    tokens = {child.id for (_, name), child in facts.machine.children.items() if name in _TOKENS_AFTER}
    return found[0] if len(found) == 1 and text.sources <= {found[0].id} | tokens else None
