"""Sums over the rounds of a loop that keep the graph of everything that was added to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import OVERFLOW, Object, Opaque, Value
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord, Frame
    from llm_lsp.facts.gradients import Differentiated
    from llm_lsp.facts.place import Place

__all__ = ["RunningSum", "running_sums"]


class RunningSum:
    """`total += loss`, where `total` goes on to the next round."""

    __slots__ = ("_facts", "_found", "_record", "_sum")

    def __init__(self, facts: Facts, record: CallRecord) -> None:
        self._facts = facts
        self._record = record
        self._sum = facts.machine.sums[record.id]
        self._found = self._differentiated

    @property
    def total(self) -> str:
        """The variable or attribute that is added to, as it is written."""
        return self._facts.text_of(self._sum.target)

    @property
    def term(self) -> Place | None:
        """What is added with its graph, where the program that computes gradients of it writes it down."""
        if self._found is None:
            return self._facts.place(self._loss) if self._loss is not None else None
        term, done = self._found
        node = self._handed_down_from(done.frame)
        if node is None:
            return self._facts.place(term)
        text = ast.unparse(done.written)
        given = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
        return next((self._facts.place(one) for one in given if ast.unparse(one) == text), None)

    @property
    def place(self) -> Place:
        """The statement that adds, or the call by which the code that computes gradients hands down what is added."""
        node = self._handed_down_from(self._found[1].frame) if self._found is not None else None
        return self._facts.place(self._record.node if node is None else node)

    @property
    def keeps_graph(self) -> Truth:
        """Whether the graph of every round stays in the sum: gradients are computed of what is added, by itself."""
        machine = self._facts.machine
        if self._record.id in machine.reached_gradient:
            return answer(NO)
        is_known = machine.is_complete and OVERFLOW not in machine.reached_gradient
        is_graph = self._found is not None or self._loss is not None
        return answer(YES if is_known and is_graph and not self._ends_with_a_step else UNKNOWN)

    @property
    def _ends_with_a_step(self) -> bool:
        """Whether the sum begins anew where the optimizer steps: it is over the few micro-batches of one step."""
        resets = self._facts.machine.kept_sums[self._record.id]
        return bool(resets) and any(not resets.isdisjoint(step.record.guards) for step in self._facts.calls("step"))

    @property
    def _differentiated(self) -> tuple[ast.expr, Differentiated] | None:
        """What is added and where gradients of it are computed; None if that is not seen."""
        done = {id(one.value): one for one in self._facts.machine.differentiated}
        return next(((term, done[id(value)]) for term, value in self._sum.terms if id(value) in done), None)

    @property
    def _loss(self) -> ast.expr | None:
        """What is added, if it is the result of a loss function and part of what gradients are computed of."""
        return next((term for term, value in self._sum.terms if self._is_loss(value)), None)

    def _is_loss(self, value: Value) -> bool:
        machine = self._facts.machine
        made = machine.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
        if made is None or machine.reached_gradient.isdisjoint(value.sources & machine.graph_ids):
            return False
        if any(part is value for _, part in machine.parts.values()):
            # `loss, items = criterion(...)`: the other results are for the log, and come without a graph.
            return False
        if made.name.startswith("torch.nn.functional."):
            return True
        receiver = made.receiver if made.name == "()" else None
        if not isinstance(receiver, Object):
            return False
        named_so = receiver.cls is None and any(word in receiver.name.lower() for word in library.NAMES_OF_LOSSES)
        return machine.kind(receiver) == "loss" or named_so

    def _handed_down_from(self, frame: Frame) -> ast.AST | None:
        """The call in `frame` that leads to the addition; None if it is made there, or elsewhere."""
        for inner in self._record.frame.chain():
            if inner.parent is frame:
                return inner.call
        return None


def running_sums(facts: Facts) -> Iterator[RunningSum]:
    """The sums of this module that go on from round to round, in the order in which they are first made."""
    machine = facts.machine
    ids = sorted(machine.kept_sums) if facts.records else ()
    found = (RunningSum(facts, machine.calls[id]) for id in ids if id in machine.calls)
    return (one for one in found if one.place.path == facts.source.path)
