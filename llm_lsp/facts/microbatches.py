"""Gradients of several batches that one step of an optimizer uses together: whether they are a mean or a sum."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.call_index import CallIndex
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.updates import BACKWARDS, common_loop, optimizer_steps
from llm_lsp.facts.values import Class, Constant, Function, Object, Opaque, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["MicroBatches", "is_of_a_tensor", "micro_batches"]

_ACCUMULATES = re.compile(r"accum|micro|chunk|\bsplit\(|grad_steps|n_acc|\bgas?\b|ga_steps", re.IGNORECASE)
"""Words of a loop, or of a test, that say that one step is taken for several parts of a batch."""
_BY_HAND = re.compile(
    r"\.grad\b[\w.]*\s*(/=|\*=|=[^=])|\bgrad(\.data)?\.(div_|mul_|copy_)|_foreach_(div|mul)|register_hook"
)
"""Gradients that the program itself changes."""


class MicroBatches:
    """A call of `backward` that is made several times for one step of an optimizer."""

    __slots__ = ("_facts", "_node", "_step", "backward")

    def __init__(self, facts: Facts, backward: CallRecord, step: CallRecord, node: ast.expr) -> None:
        self._facts = facts
        self._step = step
        self._node = node
        self.backward = Call(facts, backward)
        """The call that computes gradients."""

    @property
    def count(self) -> Place | None:
        """How many batches a step is for, as it is written: in `range(count)`, or behind `%`."""
        found: list[ast.expr] = []
        if isinstance(self._node, ast.Call) and isinstance(self._node.func, ast.Name) and self._node.func.id == "range":
            found = self._node.args if len(self._node.args) == 1 else []
        elif not isinstance(self._node, ast.Call):
            found = [
                node.right
                for node in ast.walk(self._node)
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
            ]
        place = self._facts.place(found[0]) if len(found) == 1 else None
        return place if place is not None and re.fullmatch(r"[\w.]+", place.text) else None

    @property
    def is_accumulation(self) -> Truth:
        """Whether the rounds are parts of one batch, by what the loop or the test says: YES, or not known."""
        is_counted = (
            isinstance(self._node, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp)) and self.count is not None
        )
        text = self._facts.text_of(self._node)
        is_one = self.count is not None and self.count.text == "1"
        return answer(YES if (is_counted or _ACCUMULATES.search(text)) and not is_one else UNKNOWN)

    @property
    def is_divided(self) -> Truth:
        """Whether something makes a mean of the sum: NO if gradients are those of a mean over each batch, as it comes."""
        facts, optimizer = self._facts, self._step.receiver
        made = facts.machine.calls.get(optimizer.call or 0) if isinstance(optimizer, Object) else None
        is_tuned = made is not None and bool(re.search(r"/|accum", facts.text_of(made.node)))
        if is_tuned or not facts.is_whole or _BY_HAND.search(facts.machine.text):
            return answer(UNKNOWN)
        return answer(NO if self.loss is not None and _is_mean(facts, self._value) else UNKNOWN)

    @property
    def loss(self) -> Place | None:
        """What gradients are computed of, as it is written in the call, or in that of `scale`."""
        node = self.backward.record.node
        if self._is_of_fabric:
            return self._facts.place(node.args[0]) if isinstance(node, ast.Call) and node.args else None
        written = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if isinstance(written, ast.Call) and isinstance(written.func, ast.Attribute) and written.func.attr == "scale":
            written = written.args[0] if len(written.args) == 1 else None
        return self._facts.place(written) if written is not None else None

    @property
    def is_scaled(self) -> bool:
        """Whether a loss scaler stands between."""
        return self._scaled is not None

    @property
    def is_written_beside(self) -> bool:
        """Whether one function computes gradients and takes the step."""
        return self.backward.record.frame is self._step.frame

    @property
    def _is_of_fabric(self) -> bool:
        """Whether Fabric computes the gradients, of the loss that it is given as it is."""
        return _is_of_fabric(self._facts, self.backward.record)

    @property
    def _scaled(self) -> CallRecord | None:
        value = self.backward.record.receiver
        made = self._facts.machine.calls.get(value.call or 0) if isinstance(value, Opaque) else None
        return made if made is not None and made.name == "scale" else None

    @property
    def _value(self) -> Value | None:
        scaled = self._scaled
        if self._is_of_fabric:
            return self.backward.record.arguments.get("tensor", 0)
        return self.backward.record.receiver if scaled is None else scaled.arguments.get("outputs", 0)


def micro_batches(facts: Facts) -> Iterator[MicroBatches]:
    """The first call of `backward` in each loop that is made more often than the step that follows it."""
    found = [
        record
        for record in facts.index.named(BACKWARDS)
        if record.loops and (is_of_a_tensor(record) or _is_of_fabric(facts, record))
    ]
    steps = [call.record for call, _ in optimizer_steps(facts)] if found else []
    backwards = CallIndex(found)
    for step in steps:
        for backward in backwards.under(step.frame.root):
            node = _parts(facts, backward, step)
            if node is not None and not any(_is_as_frequent(backward, other) for other in steps):
                yield MicroBatches(facts, backward, step, node)
                break


def _is_as_frequent(backward: CallRecord, step: CallRecord) -> bool:
    """Whether an optimizer steps in each round that computes gradients: they may be those of its parameters."""
    return step.loops == backward.loops and len(step.guards) <= len(backward.guards)


def is_of_a_tensor(record: CallRecord) -> bool:
    """Whether it is a tensor's own method: an accelerator's, or an engine's, divides by itself."""
    return (
        isinstance(record.receiver, Opaque)
        and not record.arguments.positional
        and "gradient" not in record.arguments.keywords
    )


def _is_of_fabric(facts: Facts, record: CallRecord) -> bool:
    """Whether it is the method of Fabric, which divides by nothing; only Fabric has `no_backward_sync`."""
    receiver = record.receiver
    made = facts.machine.calls.get(receiver.call or 0) if isinstance(receiver, (Object, Opaque)) else None
    if receiver is None or len(record.arguments.positional) != 1:
        return False
    is_made = made is not None and made.name.endswith("Fabric") and made.name.startswith("lightning")
    return is_made or any(other.receiver is receiver for other in facts.index.named(["no_backward_sync"]))


def _parts(facts: Facts, backward: CallRecord, step: CallRecord) -> ast.expr | None:
    """What says how often `backward` is called for a step: what the inner loop runs through, or the step's own test."""
    if common_loop(backward, step) is None or not step.loops:
        return None
    if backward.loops[:-1] == step.loops and backward.id < step.id:
        inner = backward.loops[-1]
        return inner.iter if isinstance(inner, ast.For) else None
    if backward.loops != step.loops:
        return None
    decided = {(facts.text_of(test), came_out) for test, came_out in backward.guards}
    own = [test for test, came_out in step.guards if (facts.text_of(test), came_out) not in decided]
    if len(own) != 1 or not decided <= {(facts.text_of(test), came_out) for test, came_out in step.guards}:
        return None
    cleared = (
        one.record for one in facts.calls("zero_grad") if one.record.loops and one.record.loops[-1] is step.loops[-1]
    )
    is_cleared_alike = any(
        {facts.text_of(test) for test in own} <= {facts.text_of(t) for t, _ in one.guards} for one in cleared
    )
    return own[0] if is_cleared_alike else None


def _is_mean(facts: Facts, value: Value | None) -> bool:
    """Whether the value is a mean over a batch as a loss returns it, and nothing was done to it."""
    made = facts.machine.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
    if made is None:
        return False
    if made.name in library.MEAN_LOSSES:
        return _reduces_to_mean(made)
    if made.name in {"mean", "torch.mean"}:
        return True
    receiver = made.receiver if made.name == "()" else None
    if not isinstance(receiver, Object):
        return False
    if facts.machine.kind(receiver) == "loss":
        loss = facts.machine.calls.get(receiver.call or 0)
        return loss is not None and _reduces_to_mean(loss)
    return _is_loss_of_a_model(facts, receiver, made, value)


def _reduces_to_mean(made: CallRecord) -> bool:
    """Whether a loss is told nothing else than to return a mean."""
    told = made.arguments.get("reduction")
    is_mean = told is None or (isinstance(told, Constant) and told.value == "mean")
    older = {"size_average", "reduce"} & made.arguments.keywords.keys()
    return is_mean and not older and made.arguments.is_complete


def _is_loss_of_a_model(facts: Facts, model: Object, made: CallRecord, value: Value | None) -> bool:
    """Whether it is the `loss` that a model of transformers, or one that is called like it, returns; or the program's own."""
    name = next((key[1] for key, (_, part) in facts.machine.parts.items() if part is value), None)
    if "num_items_in_batch" in made.arguments.keywords or name is None:
        return False
    if not isinstance(model.cls, Class):
        return name == "loss"
    forward = model.cls.find("forward")
    text = facts.text_of(forward.node) if isinstance(forward, Function) else ""
    return "cross_entropy(" in text and not any(word in text for word in ("reduction", " / ", "sum("))
