"""Ids that are decoded although some of them may be -100, which stands for no token."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Bound, Constant, Function, Object, Opaque, Partial, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["PREDICTIONS", "DecodedIds", "Origins", "decoded_ids", "function_of"]

_LABELS, PREDICTIONS = "labels", "predictions"
_PARTS = {
    "label_ids": _LABELS,
    "[1]": _LABELS,
    1: _LABELS,
    "predictions": PREDICTIONS,
    "[0]": PREDICTIONS,
    0: PREDICTIONS,
}
"""What a trainer's predictions are taken apart into, by name and by position."""
_DECODES = frozenset({"decode", "batch_decode"})
_COLLATORS = ("DataCollatorForSeq2Seq", "DataCollatorForLanguageModeling", "DataCollatorForTokenClassification")
"""What pads labels with -100, or masks them with it."""
_OVERWRITES = frozenset(
    {
        "putmask",
        "place",
        "copyto",
        "put",
        "masked_fill_",
        "masked_scatter_",
        "index_fill_",
        "fill_",
        "copy_",
        "clamp_",
        "clip_",
    }
)
_DEEPEST = 6


class DecodedIds:
    """A call that makes texts of what a trainer or a collator gives."""

    __slots__ = ("_facts", "_origins", "call")

    def __init__(self, facts: Facts, record: CallRecord, origins: list[Origin]) -> None:
        self._facts = facts
        self._origins = origins
        self.call = Call(facts, record)

    @property
    def are_labels(self) -> bool:
        """Whether labels are decoded; else what a model has written, padded where batches differ in length."""
        return self._origins[0].kind == _LABELS

    @property
    def hold_ignored(self) -> Truth:
        """Whether -100 may still be among them; UNKNOWN where the program may have put something else in its place."""
        machine = self._facts.machine
        kinds = {origin.kind for origin in self._origins}
        touched = machine.overwritten | machine.escaped | self._filled()
        is_whole = self._facts.is_whole and len(kinds) == 1
        if not is_whole or any(origin.ids & touched for origin in self._origins) or self._is_chosen():
            return answer(UNKNOWN)
        return answer(YES)

    @property
    def ids_place(self) -> Place | None:
        """Where the ids are written, if by a name, or an item that is named."""
        node = self._written
        is_item = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        return self._facts.place(node) if isinstance(node, (ast.Name, ast.Attribute)) or (node and is_item) else None

    @property
    def ids_are_tensors(self) -> bool:
        """Whether a collator gave them; a trainer gives arrays."""
        return self._origins[0].is_of_collator

    @property
    def tokenizer_text(self) -> str:
        return self.call.callee.rpartition(".")[0]

    @property
    def _written(self) -> ast.expr | None:
        node = self.call.record.node
        return node.args[0] if isinstance(node, ast.Call) and node.args else None

    def _filled(self) -> frozenset[int]:
        """What functions that fill in place are given."""
        found: frozenset[int] = frozenset()
        for record in self._facts.index.named_so(lambda name: name.rpartition(".")[2] in _OVERWRITES):
            given = (*record.arguments.values(), *([record.receiver] if record.receiver is not None else []))
            objects = (option for value in given for option, _ in options(value))
            found = found.union(*(option.sources for option in objects))
        return found

    def _is_chosen(self) -> bool:
        """Whether only some of the ids are decoded: those that a mask chooses."""
        written, tree = self._written, self._facts.source.tree
        if isinstance(written, ast.Name):
            assigned = [node for node in self._facts.source.statements if isinstance(node, ast.Assign)]
            given = [
                node.value
                for node in assigned
                if any(isinstance(target, ast.Name) and target.id == written.id for target in node.targets)
            ]
        else:
            given = [written] if written is not None else []
        return any(isinstance(node, ast.Subscript) and _is_mask(node.slice, tree) for node in given)


class Origin:
    """What a trainer or a collator gave."""

    __slots__ = ("ids", "is_of_collator", "kind")

    def __init__(self, kind: str, ids: frozenset[int], *, is_of_collator: bool = False) -> None:
        self.kind = kind
        self.ids = ids
        """What stands for it: overwriting one of these overwrites it."""
        self.is_of_collator = is_of_collator


def decoded_ids(facts: Facts) -> Iterator[DecodedIds]:
    """The calls that decode labels and predictions as a trainer or a collator gives them, in order."""
    records = facts.index.named(_DECODES)
    if not records:
        return
    origins = Origins(facts)
    for record in records:
        ids = record.arguments.get("sequences" if record.name == "batch_decode" else "token_ids", 0)
        found = [origins.of(option, record) for option, _ in options(ids)] if ids is not None else []
        known = [origin for origin in found if origin is not None]
        if known and len(known) == len(found):
            yield DecodedIds(facts, record, known)


class Origins:
    """Finds what a value is a part of."""

    def __init__(self, facts: Facts) -> None:
        self._machine = facts.machine
        self._metrics = set(_metrics_of(facts))
        self._wholes = {id(part): (name, whole) for (_, name), (whole, part) in facts.machine.parts.items()}

    def of(self, value: Value, record: CallRecord, depth: int = 0) -> Origin | None:
        if depth > _DEEPEST:
            return None
        if isinstance(value, Object):
            return self._of_object(value, record, depth)
        if not isinstance(value, Opaque):
            return None
        name, whole = self._wholes.get(id(value), (None, None))
        if whole is not None:
            found = self._of_part(name, whole)
            return found or (self.of(whole, record, depth + 1) if not isinstance(name, str) else None)
        made = self._machine.calls.get(value.call) if value.call is not None else None
        is_same = made is not None and made.name in library.ID_METHODS and made.receiver is not None
        return self.of(made.receiver, record, depth + 1) if is_same and made and made.receiver else None

    def _of_object(self, value: Object, record: CallRecord, depth: int) -> Origin | None:
        whole = value.parent
        if whole is None:
            return None
        is_given = whole.parent is None and whole.is_outside and self._is_of_metrics(whole, record)
        if is_given and value.name in _PARTS:
            return Origin(_PARTS[value.name], frozenset({value.id}))
        inner = self.of(whole, record, depth + 1) if value.name.startswith("[") else None
        return Origin(inner.kind, inner.ids | {value.id}) if inner is not None else None

    def _of_part(self, name: object, whole: Value) -> Origin | None:
        """A part of what `Trainer.predict` returns, or of a batch that a collator makes."""
        made = self._machine.calls.get(whole.call) if isinstance(whole, Opaque) and whole.call is not None else None
        trainer = made.receiver if made is not None else None
        is_predicted = made is not None and made.name == "predict" and id(whole) not in self._wholes
        if is_predicted and isinstance(trainer, Object) and self._machine.kind(trainer) == "trainer":
            kind = _PARTS.get(name) if isinstance(name, (int, str)) else None
            return Origin(kind, whole.sources) if kind is not None else None
        given = (self._machine.calls.get(id) for id in whole.sources) if name == "labels" else ()
        if any(record is not None and _ignores_padding(record) for record in given):
            return Origin(_LABELS, whole.sources, is_of_collator=True)
        return None

    def _is_of_metrics(self, value: Object, record: CallRecord) -> bool:
        """Whether it is what a trainer calls a function for metrics with."""
        for frame in record.frame.chain():
            function = frame.function
            if function is not None and function.node in self._metrics and frame.call is None:
                given = [argument.arg for argument in function.node.args.args]
                return value.name in given[: 2 if function.owner is not None else 1]
        return False


def _metrics_of(facts: Facts) -> Iterator[ast.AST]:
    """The functions that trainers are given for metrics, or that are named as those are."""
    for node, function in facts.machine.functions.items():
        if function.name == "compute_metrics":
            yield node
    for record in facts.index.making("trainer"):
        called = function_of(record.arguments.get("compute_metrics"))
        if called is not None:
            yield called.node


def function_of(value: Value | None) -> Function | None:
    """The function of the program that a callable is, a method or a partial one included."""
    while isinstance(value, Partial):
        value = value.callee
    called = value.function if isinstance(value, Bound) else value
    return called if isinstance(called, Function) else None


def _ignores_padding(record: CallRecord) -> bool:
    asked = record.arguments.get("label_pad_token_id")
    return record.name.endswith(_COLLATORS) and (asked is None or (isinstance(asked, Constant) and asked.value == -100))


def _is_mask(part: ast.expr, tree: ast.AST) -> bool:
    """Whether an index is no written number, no slice, and none that a loop counts."""
    if isinstance(part, (ast.Constant, ast.Slice, ast.UnaryOp)):
        return False
    loops = (node.target for node in ast.walk(tree) if isinstance(node, (ast.For, ast.comprehension)))
    counted = {name.id for target in loops for name in ast.walk(target) if isinstance(name, ast.Name)}
    return not isinstance(part, ast.Name) or part.id not in counted
