"""Where tokenizers and models come together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import has_replaced_part
from llm_lsp.facts.choices import Loaded
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.knowledge.tokenizers import TokenizerComparison

__all__ = ["TOKENIZATIONS", "Meeting", "Meetings"]

TOKENIZATIONS = frozenset({"()", "encode", "encode_plus", "batch_encode_plus", "apply_chat_template"})
_EMBEDDINGS = (".wte", ".embed_tokens", ".word_embeddings", ".shared", ".embed_in", ".tok_embeddings", ".embeddings")
"""Attributes under which transformers' models keep the embeddings of tokens."""
_DECODES = frozenset({"decode", "batch_decode"})
_DEEPEST_ARGUMENT = 3
_OF_OTHER_MODELS = ("assistant_", "draft_", "teacher_", "reward_", "ref_")
"""What the names of arguments begin with that belong to another model than the one that is called or trained."""
_MODEL_POSITION = {"trainer": 0, "pipeline": 1, "engine": 0}
_TOKENIZER_POSITION = {"pipeline": 3, "engine": 1}
"""Where the constructors of trainers, pipelines and inference engines take the model, and a tokenizer's name."""


class Meeting:
    """A tokenizer's output, or a tokenizer itself, comes to a model that is loaded by name."""

    __slots__ = ("_comparisons", "model", "place", "tokenizer")

    def __init__(self, tokenizer: Loaded, model: Loaded, place: Place, comparisons: list[TokenizerComparison]) -> None:
        self.tokenizer = tokenizer
        self.model = model
        self.place = place
        self._comparisons = comparisons
        """One for each pair of names that can hold together."""

    @property
    def vocabulary_is_shared(self) -> Truth:
        """Whether the tokenizer's ids mean to the model what they mean to the tokenizer, whichever names hold."""
        found = {comparison.same for comparison in self._comparisons}
        return answer(YES if found == {True} else NO if found == {False} else UNKNOWN)

    @property
    def is_certain(self) -> bool:
        """Whether files confirm that the vocabularies differ, or that ids lie outside the model's rows."""
        return all(comparison.certain for comparison in self._comparisons)

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Tokens of the tokenizer and rows of the model, where files confirm both."""
        first = self._comparisons[0]
        tokens, rows = first.tokenizer_size, first.model_size
        if tokens is None or rows is None or not tokens.confirmed or not rows.confirmed:
            return None
        return tokens.value, rows.value


class Meetings:
    """Pairs tokenizers and models that are both loaded by known names, by what the program does with them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def _encodes(self, record: CallRecord) -> bool:
        """Whether the call turns text into ids: a tokenizer's, or a processor's that is given text."""
        receiver = record.receiver
        if not isinstance(receiver, Object) or record.name not in TOKENIZATIONS | {"encode_batch"}:
            return False
        if self.facts.machine.kind(receiver) == "processor":
            return record.name == "()" and "text" in record.arguments.keywords
        return self.facts.has_vocabulary(receiver)

    def tokenizers_in(self, call: CallRecord) -> Iterator[tuple[Object, Place]]:
        """The tokenizers that the arguments come from, or are, each once, with the place where it is used."""
        seen: set[int] = set()
        arguments = call.arguments
        named = [value for name, value in arguments.keywords.items() if not name.startswith(_OF_OTHER_MODELS)]
        pending = [*arguments.positional, *named, *arguments.spread, Opaque(None, call.flow)]
        depth = 0
        while pending and depth < _DEEPEST_ARGUMENT:
            depth += 1
            following: list[Value] = []
            for value in pending:
                for option, _ in options(value):
                    if isinstance(option, Object) and self.facts.has_vocabulary(option) and option.id not in seen:
                        seen.add(option.id)
                        yield option, self.facts.place(option.node)
                    made_by = option.call if isinstance(option, (Opaque, Object)) else None
                    made = self.facts.machine.calls.get(made_by) if made_by is not None else None
                    if made is not None and made.name.rpartition(".")[2].startswith("DataCollator"):
                        following.extend(made.arguments.values())
                for source in sorted(self.facts.machine.flow(value)):
                    record = self.facts.machine.calls.get(source)
                    if record is None:
                        continue
                    receiver = record.receiver
                    if isinstance(receiver, Object) and self._encodes(record) and receiver.id not in seen:
                        seen.add(receiver.id)
                        yield receiver, self.facts.place(record.node)
            pending = following

    def each(self) -> Iterator[Meeting]:
        """Where tokenizers and models that are both loaded by known names come together, each pair once."""
        seen: set[tuple[object, object]] = set()
        for group in self._met():
            meetings = [
                (Meeting(tokenizer, model, place, comparisons), is_given)
                for tokenizer, model, place, is_given in group
                if tokenizer.can_be_loaded_with(model) and (comparisons := self._compared(tokenizer, model))
            ]
            served = {meeting.model.id for meeting, _ in meetings if meeting.vocabulary_is_shared is YES}
            for meeting, is_given in meetings:
                key = (meeting.tokenizer.id, meeting.model.id)
                # Where its own tokenizer's ids come too, the other ones are for another model of the program.
                is_its_own = meeting.vocabulary_is_shared is YES
                if key not in seen and (is_given or is_its_own or meeting.model.id not in served):
                    seen.add(key)
                    yield meeting

    def _met(self) -> Iterator[list[tuple[Loaded, Loaded, Place, bool]]]:
        """The tokenizers and models that come together, those of one call in one list."""
        paired: set[object] = set()
        for record in self.facts.records:
            group = list(self._met_at(record))
            if group:
                paired |= {loaded.id for tokenizer, model, _, _ in group for loaded in (tokenizer, model)}
                yield group
        for tokenizer, model in self._kept_together():
            if tokenizer.id not in paired and model.id not in paired:
                yield [(tokenizer, model, model.load.place, False)]

    def _met_at(self, record: CallRecord) -> Iterator[tuple[Loaded, Loaded, Place, bool]]:
        """The pairs that one call brings together, and whether a trainer or pipeline is given the tokenizer itself."""
        if record.name in _DECODES:
            yield from self._met_in_decoding(record)
            return
        kind: str | None = None
        if record.name in {"()", "generate"} and isinstance(record.receiver, Object):
            fed: Value | None = record.receiver if self.facts.machine.kind(record.receiver) == "model" else None
        elif (kind := self._kind_made(record)) in _MODEL_POSITION:
            fed = record.arguments.get("model", _MODEL_POSITION[kind])
        else:
            return
        models = [
            model
            for option, _ in (options(fed) if fed is not None else ())
            for part in self.facts.pretrained_parts(option)
            for model in self._models_of(part, record)
        ]
        if not models:
            return
        tokenizers = [(self.facts.loaded(found), place) for found, place in self.tokenizers_in(record)]
        if kind in _TOKENIZER_POSITION:
            named = self.facts.loaded_by(None, Call(self.facts, record), "tokenizer", _TOKENIZER_POSITION[kind])
            tokenizers.append((named, self.facts.place(record.node)))
        for model in models:
            for tokenizer, place in tokenizers:
                if tokenizer is not None and kind is not None:
                    yield tokenizer, model, self.facts.place(record.node), place == tokenizer.load.place
                elif tokenizer is not None:
                    yield tokenizer, model, place, False

    def _met_in_decoding(self, record: CallRecord) -> Iterator[tuple[Loaded, Loaded, Place, bool]]:
        """The tokenizer, or processor, that makes text of what models have generated."""
        machine, decoder = self.facts.machine, record.receiver
        if not isinstance(decoder, Object) or machine.kind(decoder) not in {"tokenizer", "processor"}:
            return
        tokenizer = self.facts.loaded(decoder)
        for source in sorted(machine.flow_of(record.arguments)) if tokenizer is not None else ():
            made = machine.calls.get(source)
            if made is None or made.name != "generate" or not isinstance(made.receiver, Object):
                continue
            is_fed_by_it = any(found is decoder for found, _ in self.tokenizers_in(made))
            if tokenizer is not None and not is_fed_by_it and machine.kind(made.receiver) == "model":
                for model in self._models_of(made.receiver, made):
                    yield tokenizer, model, self.facts.place(record.node), False

    def _kind_made(self, record: CallRecord) -> str | None:
        """What a call makes, if it makes a trainer, a pipeline or the like: a library's, or the program's own kind of it."""
        if isinstance(record.receiver, Class):
            return self.facts.machine.kind_of_class(record.receiver)
        return "engine" if record.name in library.ENGINES else kind_of(record.name)

    def _kept_together(self) -> Iterator[tuple[Loaded, Loaded]]:
        """The one tokenizer and the one model that an object holds, or that a function returns together."""
        machine = self.facts.machine
        kept: list[list[Object]] = [list(held.values()) for held in machine.held.values()]
        for held in (*kept, *machine.returned_together, *self._given_together()):
            tokenizers = [value for value in held if self.facts.is_tokenizer(value)]
            models = [value for value in held if machine.kind(value) == "model"]
            if len(tokenizers) == 1 and len(models) == 1 and not self._has_own_rows(models[0]):
                tokenizer, model = self.facts.loaded(tokenizers[0]), self.facts.loaded(models[0])
                if tokenizer is not None and model is not None and not self._only_measures(tokenizers[0]):
                    yield tokenizer, model

    def _given_together(self) -> Iterator[list[Object]]:
        """What a call is given as `model` and as `tokenizer`, whatever it does with them."""
        for record in self.facts.records:
            keywords = record.arguments.keywords
            tokenizer = keywords.get("tokenizer") or keywords.get("processing_class")
            model = keywords.get("model") or keywords.get("pretrained")
            if isinstance(tokenizer, Object) and isinstance(model, Object):
                yield [tokenizer, model]

    @cached_property
    def _calls_of(self) -> dict[int, list[CallRecord]]:
        """The calls of objects and of their methods, by the object's id."""
        found: dict[int, list[CallRecord]] = {}
        for record in self.facts.records:
            if isinstance(record.receiver, Object):
                found.setdefault(record.receiver.id, []).append(record)
        return found

    def _only_measures(self, tokenizer: Object) -> bool:
        """Whether the program tokenizes in order to count, and lets go of no ids."""
        machine = self.facts.machine
        made = {record.id for record in self._calls_of.get(tokenizer.id, ()) if self._encodes(record)}
        return bool(made) and made <= machine.measured and made.isdisjoint(machine.handed_out)

    def _models_of(self, value: Value, record: CallRecord) -> Iterator[Loaded]:
        if isinstance(value, Object) and not self._has_own_rows(value):
            model = self.facts.loaded(value)
        elif isinstance(value, Constant):
            model = self.facts.loaded_by(
                None, Call(self.facts, record), "model", _MODEL_POSITION[self._kind_made(record) or ""]
            )
        else:
            model = None
        if model is not None:
            yield model

    def _has_own_rows(self, model: Object) -> bool:
        """Whether the program itself decides what tokens the model has."""
        machine = self.facts.machine
        if not {"resize_token_embeddings", "set_input_embeddings"}.isdisjoint(machine.uses.get(model.id, ())):
            return True
        if has_replaced_part(self.facts, model, _EMBEDDINGS):
            return True
        load = machine.calls.get(model.call) if model.call is not None else None
        config = load.arguments.get("config") if load is not None else None
        is_set = isinstance(config, Object) and (config.id, "vocab_size") in machine.heap
        return is_set or (load is not None and "vocab_size" in load.arguments.keywords)

    def _compared(self, tokenizer: Loaded, model: Loaded) -> list[TokenizerComparison]:
        """One comparison for each pair of names that can hold together; none if a checkpoint is unknown."""
        from llm_lsp.knowledge.checkpoints import compare_tokenizers

        found: list[TokenizerComparison] = []
        for one in tokenizer.names:
            for other in model.names:
                if not one.agrees_with(other):
                    continue
                first, second = (
                    self.facts.world.checkpoint(str(one.value)),
                    self.facts.world.checkpoint(str(other.value)),
                )
                if first is None or second is None:
                    return []
                found.append(compare_tokenizers(first, second))
        return found
