"""Labels that are ids of tokens, and whether the padding in them counts for the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Range
from llm_lsp.facts.access import is_ids
from llm_lsp.facts.checkpoints import checkpoints_of
from llm_lsp.facts.events import CallRecord, Labels
from llm_lsp.facts.padding import TOKENIZES, is_of_several_texts, pads
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Bound, Class, Constant, Function, Object, Opaque, Sources, Value, options
from llm_lsp.knowledge import inputs
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place

__all__ = ["PaddedLabels", "padded_labels"]

_IN_PLACE = frozenset({"masked_fill_", "masked_scatter_", "index_fill_", "index_put_", "scatter_", "copy_", "where_"})
_PLAIN_COLLATORS = ("DataCollatorForSeq2Seq", "DataCollatorWithPadding", "default_data_collator", "DefaultDataCollator")
"""What leaves labels that are padded already as they are."""
_COPIES = ("clone", "copy")


class PaddedLabels:
    """Ids of padded texts that become labels."""

    __slots__ = ("_facts", "_is_passed", "_node", "_record", "_sources")

    def __init__(
        self, facts: Facts, node: ast.AST, record: CallRecord, sources: Sources, *, is_passed: bool = False
    ) -> None:
        self._facts = facts
        self._is_passed = is_passed
        """Whether the program passes them to a model itself: then no trainer and no collator comes between."""
        self._node = node
        """The expression that gives the labels; the tokenization where it makes them itself."""
        self._record = record
        self._sources = sources
        """What the labels, and what they are stored in, are computed from."""

    @property
    def place(self) -> Place:
        """Where the ids become labels, or where this module calls what does that."""
        return self._facts.place_here(self._node) or self.padding_place

    @property
    def padding_place(self) -> Place:
        """The tokenization that pads, or the call here that leads to it."""
        return self._facts.place_here(self._record.node) or self._facts.place(self._record.node)

    @property
    def reaches_loss(self) -> Truth:
        """Whether a model or a trainer computes a loss with them."""
        machine = self._facts.machine
        for record in self._facts.index.named_so(lambda name: name == "()" or kind_of(name) == "trainer"):
            if record.name != "()":
                is_reached = bool(self._sources & (record.flow | machine.flow_of(record.arguments)))
                is_reached = is_reached or self._is_made_by(record.arguments.get("data_collator", 2))
            else:
                keywords = record.arguments.keywords
                takes = "labels" in keywords or record.arguments.spread
                given = keywords.get("labels")
                is_it = given is not None and self._record.id in machine.flow(given)
                is_trained = record.id in machine.reached_gradient and self._sources & record.flow
                is_reached = bool(takes and (is_it or is_trained))
            if is_reached:
                return answer(YES)
        return answer(UNKNOWN)

    @property
    def is_masked(self) -> Truth:
        """Whether anything sets the labels of padding to what the loss ignores; UNKNOWN where something unseen may."""
        machine, id = self._facts.machine, self._record.id
        if id in machine.overwritten or any(_is_computed(labels, id) for labels in _stored(self._facts)):
            return answer(YES)
        if not self._facts.is_whole or any(self._may_mask(record) for record in self._facts.records):
            return answer(UNKNOWN)
        return answer(NO)

    @property
    def masked_text(self) -> tuple[Range, str] | None:
        """The labels with -100 where the padding is, and where to write that; None where that isn't plain."""
        node = self._node
        if self.place.path != self._facts.place(node).path:
            return None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COPIES:
            node = node.func.value
        encoding = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else None
        ids = self._facts.text_of(node)
        if not isinstance(encoding, ast.Name) or not ids.endswith(("['input_ids']", '["input_ids"]', ".input_ids")):
            return None
        mask = ids.replace("input_ids", "attention_mask")
        if self._record.arguments.get("return_attention_mask") is not None:
            return None
        tensors = self._record.arguments.get("return_tensors")
        if isinstance(tensors, Constant) and tensors.value == "pt":
            return self.place.range, f"{ids}.masked_fill({mask} == 0, -100)"
        if tensors is not None or not is_of_several_texts(self._record):
            return None
        row = "[token if kept else -100 for token, kept in zip(row, mask)]"
        return self.place.range, f"[{row} for row, mask in zip({ids}, {mask})]"

    def _may_mask(self, record: CallRecord) -> bool:
        if "ignore_index" in record.arguments.keywords or (not self._is_passed and self._may_mask_batches(record)):
            return True
        last = record.name.rpartition(".")[2]
        if last in _IN_PLACE and record.receiver is not None and self._record.id in record.receiver.sources:
            return True
        is_model = isinstance(record.receiver, Object) and self._facts.is_model(record.receiver) is YES
        is_known = record.is_resolved or is_model or kind_of(record.name) == "trainer"
        return not is_known and any(self._is_part(value) for value in record.arguments.values())

    def _may_mask_batches(self, record: CallRecord) -> bool:
        """Whether a collator or a trainer is made that may change the labels of its batches."""
        last = record.name.rpartition(".")[2]
        if last.startswith("DataCollator") and not last.endswith(_PLAIN_COLLATORS):
            return True
        if isinstance(record.receiver, Class) and self._facts.machine.kind_of_class(record.receiver) == "trainer":
            return True
        collator = record.arguments.get("data_collator", 2) if kind_of(record.name) == "trainer" else None
        is_plain = collator is None or _leaves_labels(self._facts, collator) or self._is_made_by(collator)
        return kind_of(record.name) == "trainer" and not (record.name.startswith("transformers.") and is_plain)

    def _is_made_by(self, collator: Value | None) -> bool:
        """Whether a collator of the program tokenizes: what it returns is the batch, as far as it goes."""
        function = collator.function if isinstance(collator, Bound) else collator
        if isinstance(collator, Object) and isinstance(collator.cls, Class):
            function = collator.cls.find("__call__")
        if not isinstance(function, Function):
            return False
        return any(
            frame.function is not None and frame.function.node is function.node for frame in self._record.frame.chain()
        )

    def _is_part(self, value: Value) -> bool:
        return any(is_ids(option) and self._record.id in option.sources for option, _ in options(value))


def padded_labels(facts: Facts) -> Iterator[PaddedLabels]:
    """The ids of padded texts that become labels, once for each chain of calls on which they do."""
    kept = facts.machine.labelled.values() if facts.records else ()
    for labels in _stored(facts):
        made = [facts.machine.calls[id] for id in labels.ids or () if id in facts.machine.calls]
        if len(made) == 1 and _pads(facts, made[0]):
            node, sources = _written(facts, labels.node), labels.owner | {made[0].id}
            yield PaddedLabels(facts, node, made[0], sources, is_passed=labels not in kept)
    for record in facts.index.named(TOKENIZES):
        if "text_target" in record.arguments.keywords and _pads(facts, record):
            yield PaddedLabels(facts, record.node, record, frozenset({record.id}))


def _written(facts: Facts, target: ast.AST) -> ast.AST:
    """What is assigned to `batch["labels"]`; anything else stands for itself."""
    statements = facts.source.statements if isinstance(target, ast.Subscript) else ()
    return next((node.value for node in statements if isinstance(node, ast.Assign) and target in node.targets), target)


def _stored(facts: Facts) -> Iterator[Labels]:
    """What is stored as labels, or passed to a model as such."""
    machine = facts.machine
    yield from machine.labelled.values()
    for run in facts.runs_of_models():
        value = run.record.arguments.keywords.get("labels")
        node = run.record.node
        for keyword in node.keywords if isinstance(node, ast.Call) and value is not None else ():
            if keyword.arg == "labels" and value is not None:
                yield Labels(keyword.value, run.record.flow, value, machine.flow(value), machine.ids_in(value))


def _pads(facts: Facts, record: CallRecord) -> bool:
    """Whether the tokenization certainly pads: to a length that it is given, that its tokenizer has, or of several texts."""
    tokenizer = record.receiver
    if not isinstance(tokenizer, Object) or not pads(record):
        return False
    # The first argument of a processor may be images or sound.
    is_processor = facts.machine.kind(tokenizer) == "processor" and "text" in record.arguments.keywords
    if not facts.is_tokenizer(tokenizer) and not is_processor:
        return False
    padding = record.arguments.get("padding")
    if not isinstance(padding, Constant) or padding.value != "max_length" or "max_length" in record.arguments.keywords:
        return True
    loaded = facts.loaded(tokenizer)
    known = checkpoints_of(facts, loaded.names) if loaded is not None else None
    return bool(known) and all(inputs.raises_beyond(each) for each in known or ())


def _is_computed(labels: Labels, id: int) -> bool:
    """Whether the labels were made of these ids by something that may mask them: not the ids, nor what a loader gives."""
    if id not in labels.flow or labels.ids is not None:
        return False
    return any(not isinstance(option, Opaque) or option.call not in {None, id} for option, _ in options(labels.value))


def _leaves_labels(facts: Facts, collator: Value) -> bool:
    if isinstance(collator, Constant):
        return collator.value is None
    made = (
        facts.machine.calls.get(collator.call) if isinstance(collator, Opaque) and collator.call is not None else None
    )
    name = made.name if made is not None else getattr(collator, "name", "")
    return str(name).endswith(_PLAIN_COLLATORS)
