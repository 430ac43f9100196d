"""Tokens that are added to a tokenizer, and whether the model has embeddings for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.call_index import in_order
from llm_lsp.facts.checkpoints import checkpoints_of, is_changed_unseen, may_be_configured
from llm_lsp.facts.padding import pads
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Tuple, Value, options
from llm_lsp.knowledge import inputs, library
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.loads import Loaded
    from llm_lsp.facts.place import Place
    from llm_lsp.knowledge.checkpoint import Checkpoint, Known

__all__ = ["AddedTokens", "added_tokens"]

_MATRIX = ("embed", "wte", "shared", "lm_head", "weight", "vocab")
"""Words in the names of what a program replaces when it makes room for tokens by hand."""
_MAKES_ROOM = ("resize", "chat_format", "chat_template", "vocab")
"""Words in the names of functions that make room in a model that they are given."""
_RESIZES = frozenset({"resize_token_embeddings", "set_input_embeddings"})
_MOST_IMPORTERS = 8
_OWN_SIZE = ("vocab_size", "ignore_mismatched_sizes")


class AddedTokens:
    """Tokens that are added to a tokenizer, beside a model that its output goes to."""

    __slots__ = ("_facts", "_record", "meeting_place", "model", "place", "tokenizer")

    def __init__(self, facts: Facts, record: CallRecord, tokenizer: Loaded, model: Loaded, place: Place) -> None:
        self._facts = facts
        self._record = record
        self.tokenizer = tokenizer
        self.model = model
        self.meeting_place = place
        """Where the tokenizer's output, or the tokenizer itself, comes to the model."""
        self.place = facts.place(record.node)
        """The call that adds them, perhaps in another module."""

    @property
    def rows_suffice(self) -> Truth:
        """Whether the model has an embedding for each of the added tokens."""
        model = self.model.object
        if model is not None and (is_changed_unseen(self._facts, model, _MATRIX) or self._is_given_room(model)):
            return answer(UNKNOWN)
        load = self.model.load.record.arguments
        if not load.is_complete or not self._facts.is_whole or any(name in load.keywords for name in _OWN_SIZE):
            return answer(UNKNOWN)
        if may_be_configured(self._facts, self.model.load.record, ("vocab", "text_config")):
            return answer(UNKNOWN)
        found = {self._suffices(tokens, rows) for tokens, rows in self._sizes()}
        return answer(found.pop() if len(found) == 1 else UNKNOWN)

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Tokens of the tokenizer with those that were added for certain, and rows of the model, if files confirm both."""
        tokens, rows = next(self._sizes(), (None, None))
        if tokens is None or rows is None:
            return None
        return (tokens.value + self._count, rows.value) if tokens.confirmed and rows.confirmed else None

    def _sizes(self) -> Iterator[tuple[Known[int] | None, Known[int] | None]]:
        from llm_lsp.knowledge.tokenizers import tokenizer_size

        for name in self.tokenizer.names:
            for other in self.model.names:
                known = checkpoints_of(self._facts, [name, other]) if name.agrees_with(other) else None
                if known is not None:
                    tokenizer, model = known
                    yield (tokenizer_size(tokenizer) if self._adds_to(tokenizer) else None), model.vocab_size

    def _suffices(self, tokens: Known[int] | None, rows: Known[int] | None) -> Truth:
        if tokens is None or rows is None or not self._count:
            return UNKNOWN
        return NO if tokens.value + self._count > rows.value else YES

    @property
    def _count(self) -> int:
        words, others, _ = self._added()
        return inputs.are_new(words) + others

    def _adds_to(self, tokenizer: Checkpoint) -> bool:
        """Whether the tokens are new to this tokenizer; a pad token counts only where something is padded."""
        words, _, pad = self._added()
        from llm_lsp.knowledge.tokenizers import read_vocabulary

        vocabulary = read_vocabulary(tokenizer.folder) if tokenizer.folder is not None else None
        if vocabulary is not None and any(word in vocabulary.pieces or word in vocabulary.added for word in words):
            return False
        has_pad = tokenizer.has_pad_token is None or tokenizer.has_pad_token.value
        asks_for_pad = any("pad_token" in self._facts.text_of(test) for test, _ in self._record.guards)
        if pad is None:
            return not (asks_for_pad and has_pad)
        return not has_pad and (words != [pad] or self._is_padded())

    def _added(self) -> tuple[list[str], int, str | None]:
        """The texts of the tokens, how many are added whose text is not known, and the pad token among them."""
        words: list[str] = []
        others = 0
        pad: str | None = None
        for name, value in self._record.state.items():
            more = self._texts_of(value)
            if more is None:
                # What is added is not seen; a dictionary may hold the tokenizer's own tokens.
                is_meant = (
                    name in {"additional_special_tokens", "extra_special_tokens"} or self._record.name == "add_tokens"
                )
                others += int(is_meant)
                continue
            words += more
            pad = more[0] if name == "pad_token" and more else pad
        return words, others, pad

    def _texts_of(self, value: Value) -> list[str] | None:
        """The texts of the tokens, where they are written in the program; None where one of them is not."""
        items = value.items if isinstance(value, Tuple) else (value,)
        words: list[str] = []
        for item in items:
            made = self._facts.machine.calls.get(item.call or 0) if isinstance(item, Opaque) else None
            text = made.arguments.get("content", 0) if made is not None and made.name.endswith("AddedToken") else item
            if not isinstance(text, Constant) or not isinstance(text.value, str):
                return None
            words.append(text.value)
        return words

    def _is_padded(self) -> bool:
        """Whether the program pads with the tokenizer, so that the pad token's id comes to the model."""
        tokenizer = self.tokenizer.object
        index = self._facts.index
        if tokenizer is not None and any(
            record.receiver is tokenizer and pads(record) for record in index.on(tokenizer.id)
        ):
            return True
        return any(
            option is tokenizer
            for record in index.named_so(_takes_to_pad)
            for value in record.arguments.values()
            for option, _ in options(value)
        )

    def _is_given_room(self, model: Object) -> bool:
        uses = self._facts.machine.uses.get(model.id, set())
        if not uses.isdisjoint({"resize_token_embeddings", "set_input_embeddings", "load_state_dict", "load_adapter"}):
            return True
        for record in self._facts.index.named_so(_makes_room):
            if record.name.rpartition(".")[2].lower() == "resize_token_embeddings":
                if not isinstance(record.receiver, Object) or self._facts.loaded(record.receiver) is None:
                    return True  # perhaps this model, under another name
            else:
                given = (option for value in record.arguments.values() for option, _ in options(value))
                if any(option is model for option in given):
                    return True
        return False

    def variables(self) -> tuple[str, str, Place] | None:
        """The names of model and tokenizer where both are known, and the call after which the model can be resized."""
        names, load = self._facts.result_names, self.model.load.record
        model, tokenizer = names.get(load.node), names.get(self.tokenizer.load.record.node)
        if model is None or tokenizer is None:
            return None
        if not (load.frame is self._record.frame is self.tokenizer.load.record.frame):
            return None
        return model, tokenizer, max(self._facts.place(load.node), self._facts.place(self._record.node), key=_start)


def _takes_to_pad(name: str) -> bool:
    """Whether it makes what pads with the tokenizer that it is given."""
    return name.rpartition(".")[2].startswith("DataCollator") or kind_of(name) == "trainer"


def _makes_room(name: str) -> bool:
    last = name.rpartition(".")[2].lower()
    return any(word in last for word in _MAKES_ROOM)


def _start(place: Place) -> tuple[int, int]:
    return place.range.start.row, place.range.start.column


def added_tokens(facts: Facts) -> Iterator[AddedTokens]:
    """Tokens that are added to a tokenizer whose vocabulary is that of a model which its output goes to."""
    records = list(_additions(facts))
    yield from _met_with(facts, records)
    # A parameter that nobody annotates is a tokenizer by what a caller passes.
    given = facts.index.named(library.ADDS_TOKENS)
    # Who makes room for the tokens himself is not looked for in other modules: that costs a run of each.
    done = {record.frame.root.id for record in facts.index.named(_RESIZES)}
    roots = {record.frame.root.function: None for record in (*records, *given) if record.frame.root.id not in done}
    names = {root.name if root.owner is None else root.owner.node.name for root in roots if root is not None}
    importers = facts.world.importers(facts.source.path, names) if names else []
    for importer in importers[:_MOST_IMPORTERS]:
        other = type(facts)(importer, facts.world, facts.stop, entered=facts.source)
        try:
            for added in _met_with(other, list(_additions(other))):
                if added.place.path == facts.source.path:
                    yield added
        finally:
            other.close()


def _additions(facts: Facts) -> Iterator[CallRecord]:
    """The calls that add tokens, to a tokenizer that is loaded or while it is."""
    # Both where the method's result is an object again.
    found = {*facts.index.named(library.ADDS_TOKENS), *facts.index.with_objects}
    for record in in_order(record for record in found if record.state):
        tokenizer = _tokenizer_of(record)
        if isinstance(tokenizer, Object) and facts.is_tokenizer(tokenizer):
            yield record


def _tokenizer_of(record: CallRecord) -> object:
    return record.receiver if record.name in library.ADDS_TOKENS else record.result


def _met_with(facts: Facts, records: list[CallRecord]) -> Iterator[AddedTokens]:
    """The additions, with the models that get the tokenizer's output."""
    for meeting in facts.meetings() if records else ():
        for record in records:
            if meeting.tokenizer.object is _tokenizer_of(record) and meeting.vocabulary_is_shared is YES:
                yield AddedTokens(facts, record, meeting.tokenizer, meeting.model, meeting.place)
