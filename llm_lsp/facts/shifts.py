"""Labels that are moved by one position, for models that move them themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.padding import is_decoder_only
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Sources, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import inputs
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["LabelledRun", "labelled_runs"]

_ROLLS = frozenset({"torch.roll", "roll", "numpy.roll"})


class LabelledRun:
    """A forward, or a trainer, of a causal language model that is given labels."""

    __slots__ = ("_facts", "_inputs", "_labels", "_node", "call")

    def __init__(self, facts: Facts, record: CallRecord, node: ast.AST, labels: Value, inputs: Sources) -> None:
        self._facts = facts
        self.call = Call(facts, record)
        self._node = node
        """What gives the labels: the argument, or the value under the key."""
        self._labels = labels
        self._inputs = inputs
        """What the ids that go in with them are computed from."""

    @property
    def place(self) -> Place:
        """Where the labels are given."""
        return self._facts.place_here(self._node) or self.call.place

    @property
    def model_text(self) -> str:
        """The model as the program writes it, or what trains it."""
        return self.call.callee if self.call.name == "()" else f"{self.call.callee}(...)"

    @property
    def is_shifted(self) -> Truth:
        """Whether a label stands where the token before it does; UNKNOWN where nothing shows how both are cut."""
        machine = self._facts.machine
        labels = machine.flow(self._labels)
        behind = [made for id in labels - self._inputs if (made := machine.calls.get(id)) and made.name == "[1:]"]
        others = [made for id in self._inputs if (made := machine.calls.get(id)) and made.name in {"[1:]", "[:-1]"}]
        is_cut = any(made.name == "[:-1]" and _is_of_the_same(one, made) for one in behind for made in others)
        loses_first = any(made.name == "[1:]" for made in others)
        is_whole = bool(behind) and not others and any(one.flow & self._inputs for one in behind)
        is_filled = isinstance(self._labels, Opaque) and self._labels.call in machine.shifted
        is_found = is_cut or is_whole or is_filled or self._is_rolled()
        return answer(YES if is_found and not loses_first else UNKNOWN)

    @property
    def shifts_itself(self) -> Truth:
        """Whether the model compares each label with what it says one position before."""
        model = self._model()
        load = self._facts.machine.calls.get(model.call) if model is not None and model.call is not None else None
        if model is None or load is None or load.name.count(".") < 2:
            return answer(UNKNOWN)
        types = self._facts.model_types(model, load.name)
        return answer(NO if not inputs.SHIFTS_NO_LABELS.isdisjoint(types) else YES)

    def _model(self) -> Object | None:
        record = self.call.record
        model = record.receiver if record.name == "()" else record.arguments.get("model", 0)
        return model if isinstance(model, Object) else None

    def _is_rolled(self) -> bool:
        labels = self._labels
        made = self._facts.machine.calls.get(labels.call) if isinstance(labels, Opaque) and labels.call else None
        if made is None or made.name not in _ROLLS:
            return False
        by = made.arguments.get("shifts", 1 if "." in made.name else 0)
        return isinstance(by, Constant) and by.value == -1


def _is_of_the_same(one: CallRecord, other: CallRecord) -> bool:
    """Whether two slices are of one sequence."""
    first, second = one.node, other.node
    if not isinstance(first, ast.Subscript) or not isinstance(second, ast.Subscript):
        return False
    return bool(one.flow & other.flow) or ast.dump(first.value) == ast.dump(second.value)


def labelled_runs(facts: Facts) -> Iterator[LabelledRun]:
    """The forwards of causal language models with labels, and what reaches their trainers under the key "labels"."""
    machine = facts.machine
    for record in facts.index.named(("()",)):
        labels = record.arguments.keywords.get("labels")
        if labels is not None and is_decoder_only(facts, record):
            ids = record.arguments.get("input_ids", 0)
            node = next((word.value for word in _keywords(record.node) if word.arg == "labels"), record.node)
            yield LabelledRun(facts, record, node, labels, machine.flow(ids) if ids is not None else frozenset())
    for stored in machine.labelled.values():
        taker = _taker(facts, stored.owner) if any(_is_moved(facts, id) for id in stored.flow) else None
        if taker is not None:
            beside = _slices_beside(machine.calls, stored.owner, stored.flow)
            yield LabelledRun(facts, taker, stored.node, stored.value, beside)


def _is_moved(facts: Facts, id: int) -> bool:
    made = facts.machine.calls.get(id)
    return made is not None and made.name == "[1:]"


def _keywords(node: ast.AST) -> list[ast.keyword]:
    return node.keywords if isinstance(node, ast.Call) else []


def _slices_beside(calls: dict[int, CallRecord], stored: Sources, labels: Sources) -> Sources:
    """The slices that go into what is stored beside the labels."""
    named = {id: made.name for id in stored if (made := calls.get(id)) is not None}
    return frozenset(id for id, name in named.items() if name == "[:-1]" or (name == "[1:]" and id not in labels))


def _taker(facts: Facts, stored: Sources) -> CallRecord | None:
    """The forward or the trainer of a causal language model that gets what is stored together."""
    for record in facts.index.named_so(lambda name: name == "()" or kind_of(name) == "trainer"):
        if record.name == "()":
            is_one = bool(record.arguments.spread) and is_decoder_only(facts, record)
        else:
            model = record.arguments.get("model", 0)
            is_one = isinstance(model, Object) and str(model.cls).endswith(("ForCausalLM", "LMHeadModel"))
        if is_one and stored & (record.flow | facts.machine.flow_of(record.arguments)):
            return record
    return None
