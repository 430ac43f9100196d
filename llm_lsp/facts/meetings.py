"""Where tokenizers and models come together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.call_index import in_order
from llm_lsp.facts.checkpoints import has_replaced_part
from llm_lsp.facts.loads import Loaded
from llm_lsp.facts.runs import TOKENIZATIONS
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Sources, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.knowledge.tokenizers import TokenizerComparison

__all__ = ["Meeting", "Meetings"]

_EMBEDDINGS = (".wte", ".embed_tokens", ".word_embeddings", ".shared", ".embed_in", ".tok_embeddings", ".embeddings")
"""Attributes under which transformers' models keep the embeddings of tokens."""
_ENCODES = TOKENIZATIONS | {"encode_batch"}
_DECODES = frozenset({"decode", "batch_decode"})
_DEEPEST_ARGUMENT = 3
_OF_OTHER_MODELS = ("assistant_", "draft_", "teacher_", "reward_", "ref_")
"""What the names of arguments begin with that belong to another model than the one that is called or trained."""
_MODEL_POSITION = {"trainer": 0, "pipeline": 1, "engine": 0}
_TOKENIZER_POSITION = {"pipeline": 3, "engine": 1}
"""Where the constructors of trainers, pipelines and inference engines take the model, and a tokenizer's name."""


class _Pair(NamedTuple):
    """A tokenizer and a model that come together."""

    tokenizer: Loaded
    model: Loaded
    node: ast.AST
    """Where."""
    is_given: bool = False
    """Whether a trainer or pipeline is given the tokenizer itself."""

    @property
    def id(self) -> tuple[object, object]:
        return self.tokenizer.id, self.model.id


class Meeting:
    """A tokenizer's output, or a tokenizer itself, comes to a model that is loaded by name."""

    __slots__ = ("_comparisons", "_facts", "_node", "model", "tokenizer")

    def __init__(self, facts: Facts, pair: _Pair, comparisons: list[TokenizerComparison]) -> None:
        self._facts = facts
        self._node = pair.node
        self.tokenizer = pair.tokenizer
        self.model = pair.model
        self._comparisons = comparisons
        """One for each pair of names that can hold together."""

    @property
    def place(self) -> Place:
        """Where they meet."""
        return self._facts.place(self._node)

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
        if not isinstance(receiver, Object) or record.name not in _ENCODES:
            return False
        if self.facts.machine.kind(receiver) == "processor":
            return record.name == "()" and "text" in record.arguments.keywords
        return self.facts.has_vocabulary(receiver)

    def _tokenizers_in(self, call: CallRecord) -> Iterator[tuple[Object, ast.AST]]:
        """The tokenizers that the arguments come from, or are, each once, with the node where it is used."""
        machine = self.facts.machine
        seen: set[int] = set()
        asked: Sources = frozenset()
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
                        yield option, option.node
                    made_by = option.call if isinstance(option, (Opaque, Object)) else None
                    made = machine.calls.get(made_by) if made_by is not None else None
                    if made is not None and made.name.rpartition(".")[2].startswith("DataCollator"):
                        following.extend(made.arguments.values())
                flow = machine.flow(value)
                for source in sorted(flow - asked):
                    record = machine.calls.get(source)
                    receiver = record.receiver if record is not None and self._encodes(record) else None
                    if record is not None and isinstance(receiver, Object) and receiver.id not in seen:
                        seen.add(receiver.id)
                        yield receiver, record.node
                asked |= flow
            pending = following

    def each(self) -> Iterator[Meeting]:
        """Where tokenizers and models that are both loaded by known names come together, each pair once."""
        seen: set[tuple[object, object]] = set()
        for group in self._met():
            if all(pair.id in seen for pair in group):
                continue
            meetings = [
                (Meeting(self.facts, pair, comparisons), pair)
                for pair in group
                if pair.tokenizer.can_be_loaded_with(pair.model) and (comparisons := self._compared(pair))
            ]
            served = {pair.model.id for meeting, pair in meetings if meeting.vocabulary_is_shared is YES}
            for meeting, pair in meetings:
                # Where its own tokenizer's ids come too, the other ones are for another model of the program.
                is_its_own = meeting.vocabulary_is_shared is YES
                if pair.id not in seen and (pair.is_given or is_its_own or pair.model.id not in served):
                    seen.add(pair.id)
                    yield meeting

    def _met(self) -> Iterator[list[_Pair]]:
        """The tokenizers and models that come together, those of one call in one list."""
        paired: set[object] = set()
        for record in in_order({*self.facts.index.named_so(_may_bring_together), *self._of_own_classes()}):
            group = list(self._met_at(record))
            if group:
                paired |= {loaded.id for pair in group for loaded in (pair.tokenizer, pair.model)}
                yield group
        for pair in self._kept_together(paired):
            yield [pair]

    def _of_own_classes(self) -> list[CallRecord]:
        """The calls of the program's own trainers, pipelines and engines."""
        machine = self.facts.machine
        classes = [cls for cls in machine.classes if machine.kind_of_class(cls) in _MODEL_POSITION]
        return [record for record in self.facts.records if record.receiver in classes] if classes else []

    def _met_at(self, record: CallRecord) -> Iterator[_Pair]:
        """The pairs that one call brings together."""
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
        tokenizers = [(self.facts.loaded(found), node) for found, node in self._tokenizers_in(record)]
        if kind in _TOKENIZER_POSITION:
            named = self.facts.loaded_by(None, Call(self.facts, record), "tokenizer", _TOKENIZER_POSITION[kind])
            tokenizers.append((named, record.node))
        for model in models:
            for tokenizer, node in tokenizers:
                if tokenizer is not None and kind is not None:
                    yield _Pair(tokenizer, model, record.node, is_given=node is tokenizer.load.record.node)
                elif tokenizer is not None:
                    yield _Pair(tokenizer, model, node)

    def _met_in_decoding(self, record: CallRecord) -> Iterator[_Pair]:
        """The tokenizer, or processor, that makes text of what models have generated."""
        machine, decoder = self.facts.machine, record.receiver
        if not isinstance(decoder, Object) or machine.kind(decoder) not in {"tokenizer", "processor"}:
            return
        tokenizer = self.facts.loaded(decoder)
        for source in sorted(machine.flow_of(record.arguments)) if tokenizer is not None else ():
            made = machine.calls.get(source)
            if made is None or made.name != "generate" or not isinstance(made.receiver, Object):
                continue
            is_fed_by_it = any(found is decoder for found, _ in self._tokenizers_in(made))
            if tokenizer is not None and not is_fed_by_it and machine.kind(made.receiver) == "model":
                for model in self._models_of(made.receiver, made):
                    yield _Pair(tokenizer, model, record.node)

    def _kind_made(self, record: CallRecord) -> str | None:
        """What a call makes, if it makes a trainer, a pipeline or the like: a library's, or the program's own kind of it."""
        if isinstance(record.receiver, Class):
            return self.facts.machine.kind_of_class(record.receiver)
        return "engine" if record.name in library.ENGINES else kind_of(record.name)

    def _kept_together(self, paired: set[object]) -> Iterator[_Pair]:
        """The one tokenizer and the one model that an object holds, or that a function returns together.

        Not those that are `paired` already.
        """
        machine = self.facts.machine
        kept: list[list[Object]] = [list(held.values()) for held in machine.held.values()]
        for held in (*kept, *machine.returned_together, *self._given_together()):
            tokenizers = [value for value in held if self.facts.is_tokenizer(value)]
            models = [value for value in held if machine.kind(value) == "model"]
            if len(tokenizers) != 1 or len(models) != 1:
                continue
            tokenizer, model = self.facts.loaded(tokenizers[0]), self.facts.loaded(models[0])
            if tokenizer is None or model is None or tokenizer.id in paired or model.id in paired:
                continue
            if not self._has_own_rows(models[0]) and not self._only_measures(tokenizers[0]):
                yield _Pair(tokenizer, model, model.load.record.node)

    def _given_together(self) -> Iterator[list[Object]]:
        """What a call is given as `model` and as `tokenizer`, whatever it does with them."""
        for record in self.facts.records:
            keywords = record.arguments.keywords
            if len(keywords) < 2:
                continue
            tokenizer = keywords.get("tokenizer") or keywords.get("processing_class")
            model = keywords.get("model") or keywords.get("pretrained")
            if isinstance(tokenizer, Object) and isinstance(model, Object):
                yield [tokenizer, model]

    def _only_measures(self, tokenizer: Object) -> bool:
        """Whether the program tokenizes in order to count, and lets go of no ids."""
        machine = self.facts.machine
        made = {record.id for record in self.facts.index.on(tokenizer.id) if self._encodes(record)}
        return bool(made) and made <= machine.measured and made.isdisjoint(machine.handed_out)

    def _models_of(self, value: Value, record: CallRecord) -> Iterator[Loaded]:
        if isinstance(value, Object):
            loaded = self.facts.loaded(value)
            model = loaded if loaded is not None and not self._has_own_rows(value) else None
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

    def _compared(self, pair: _Pair) -> list[TokenizerComparison]:
        """One comparison for each pair of names that can hold together; none if a checkpoint is unknown."""
        from llm_lsp.knowledge.checkpoints import compare_tokenizers

        found: list[TokenizerComparison] = []
        for one in pair.tokenizer.names:
            for other in pair.model.names:
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


def _may_bring_together(name: str) -> bool:
    """Whether it runs a model, makes what does, or decodes what one has generated."""
    is_run = name in {"()", "generate"} or name in _DECODES
    return is_run or name in library.ENGINES or kind_of(name) in _MODEL_POSITION
