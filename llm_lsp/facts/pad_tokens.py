"""Padding with a tokenizer that may have no token to pad with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import checkpoints_of, is_changed_unseen
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.loads import Loaded
    from llm_lsp.facts.place import Place

__all__ = ["Padding", "paddings"]

_ASKED = (True, "longest", "max_length")
_TOKENIZES = frozenset({"()", "batch_encode_plus", "encode_plus", "encode", "apply_chat_template"})
_COLLATOR = ".DataCollatorWithPadding"
_SETS = frozenset({".pad_token", ".pad_token_id", "._pad_token", "add_special_tokens", "add_tokens", "update"})
_OWN_TOKEN = ("pad_token", "extra_special_tokens", "additional_special_tokens")
"""Arguments of a load by which a tokenizer may get a pad token."""


class Padding:
    """A call that pads with a tokenizer, or makes something that will."""

    __slots__ = ("_facts", "_object", "call", "tokenizer")

    def __init__(self, facts: Facts, record: CallRecord, tokenizer: Object) -> None:
        self._facts = facts
        self._object = tokenizer
        self.call = Call(facts, record)
        self.tokenizer: Loaded | None = facts.loaded(tokenizer)
        """How the tokenizer is loaded, where its name is known."""

    @property
    def has_pad_token(self) -> Truth:
        """Whether there is a token to pad with; NO where the checkpoint has none and nothing in the program sets one."""
        machine = self._facts.machine
        if self.tokenizer is None or not _SETS.isdisjoint(machine.uses.get(self._object.id, set())):
            return answer(UNKNOWN)
        load = self.tokenizer.load.record.arguments
        is_set = is_changed_unseen(self._facts, self._object, ("pad_token",)) or self._is_handed_to_a_trainer()
        if is_set or not load.is_complete or any(name in load.keywords for name in _OWN_TOKEN):
            return answer(UNKNOWN)
        known = [one.has_pad_token for one in checkpoints_of(self._facts, self.tokenizer.names) or ()]
        values = {one.value if one is not None else None for one in known}
        return answer({True: YES, False: NO, None: UNKNOWN}[values.pop()] if len(values) == 1 else UNKNOWN)

    @property
    def is_certain(self) -> bool:
        """Whether a file of the checkpoint says so."""
        known = checkpoints_of(self._facts, self.tokenizer.names) if self.tokenizer is not None else None
        return all(one.has_pad_token is not None and one.has_pad_token.confirmed for one in known or ())

    @property
    def load_place(self) -> Place | None:
        """The load of the tokenizer, where this module has it."""
        place = self.tokenizer.load.place if self.tokenizer is not None else None
        return place if place is not None and place.path == self._facts.source.path else None

    @property
    def tokenizer_text(self) -> str | None:
        """The variable or attribute that the load is assigned to."""
        return self._facts.target_of(self.tokenizer.load.record.node) if self.tokenizer is not None else None

    def _is_handed_to_a_trainer(self) -> bool:
        """Whether something that trains gets the tokenizer: TRL's trainers set a pad token themselves."""
        return any(
            option is self._object
            for record in self._facts.index.named_so(_trains)
            for value in record.arguments.values()
            for option, _ in options(value)
        )


def paddings(facts: Facts) -> Iterator[Padding]:
    """The calls that pad with a tokenizer that the program loads, or make a collator that pads every batch, in order."""
    for record in facts.index.named_so(_may_pad):
        receiver = record.receiver
        if isinstance(receiver, Object) and _pads(record) and facts.is_tokenizer(receiver):
            yield Padding(facts, record, receiver)
        elif record.name.endswith(_COLLATOR):
            tokenizer = record.arguments.get("tokenizer", 0)
            if isinstance(tokenizer, Object) and facts.is_tokenizer(tokenizer) and not _is_off(record):
                yield Padding(facts, record, tokenizer)


def _trains(name: str) -> bool:
    return kind_of(name) == "trainer" or name.startswith(("trl.", "unsloth."))


def _may_pad(name: str) -> bool:
    return name == "pad" or name in _TOKENIZES or name.endswith(_COLLATOR)


def _pads(record: CallRecord) -> bool:
    """Whether padding is asked for on every way here: transformers raises then, even of a single text."""
    if record.name == "pad":
        return record.arguments.is_complete and "padding" not in record.arguments.keywords
    padding = record.arguments.get("padding") if record.name in _TOKENIZES else None
    return isinstance(padding, Constant) and padding.value in _ASKED


def _is_off(record: CallRecord) -> bool:
    return "padding" in record.arguments.keywords or not record.arguments.is_complete
