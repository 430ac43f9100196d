"""What one round of a training loop does with gradients, and in which order: computed, used by a step, cleared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.call_index import CallIndex
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord

__all__ = [
    "BACKWARDS",
    "Update",
    "common_loop",
    "is_for_several_batches",
    "is_statement",
    "optimizer_steps",
    "same_or_weaker",
    "updates",
]

BACKWARDS = library.BACKWARD_METHODS | {"torch.autograd.backward"}
_CLEARS = ("zero_grad", "zero_gradient", "clear_grad", "reset_grad", "clear_gradient")
_BY_HAND = re.compile(r"\.grad\b[\w.]*(\s*=[^=]|\.(zero_|fill_|mul_|copy_))|\bgrad\.(zero_|fill_)")
"""Gradients that the program itself sets."""
_MAY_CLEAR = (
    "zero", "clear", "reset", "callback", "hook", "event", "dispatch", "step", "update", "train", "optim", "scal", "fit",
)  # fmt: skip
"""Words in the names of unknown functions that may clear gradients."""
_LEAVES_GRADIENTS = ("clip", "log", "print", "lr", "learning_rate", "save", "checkpoint", "watch", "norm", "warmup")
"""Words in the names of unknown functions that get an optimizer and leave its gradients."""


class Update:
    """A step of an optimizer, in a loop that also computes gradients."""

    __slots__ = ("_backwards", "_clears", "_facts", "_loop", "_optimizer", "step")

    def __init__(self, facts: Facts, step: Call, optimizer: Object, loop: ast.AST, beside: CallIndex) -> None:
        self._facts = facts
        self._loop = loop
        self._optimizer = optimizer
        self.step = step
        """The call of the optimizer's `step`, or of a scaler's with the optimizer."""
        self._backwards = [record for record in beside.named(BACKWARDS) if loop in record.loops]
        self._clears = [record for record in beside.named_so(_clears) if loop in record.loops]

    # ------------------------------------------------------------ never

    @property
    def is_ever_cleared(self) -> Truth:
        """Whether something in the loop clears gradients, of whatever; NO only if everything in it is known."""
        facts, machine = self._facts, self._facts.machine
        if self._clears:
            return answer(YES)
        made = machine.calls.get(self._optimizer.call or 0)
        is_made_anew = made is not None and self._loop in made.loops
        inside = (record for record in facts.records if self._loop in record.loops)
        is_seen = facts.is_whole and not is_made_anew and not any(self._may_clear(record) for record in inside)
        return answer(NO if is_seen and not _BY_HAND.search(machine.text) else UNKNOWN)

    def _may_clear(self, record: CallRecord) -> bool:
        """Whether it is unknown what the call does, and it may clear gradients: by its name, or since it gets the optimizer."""
        if record.is_resolved or record.name in BACKWARDS:
            return False
        name, receiver = record.name.rpartition(".")[2].lower(), record.receiver
        if record.name == "()" and isinstance(receiver, Object):
            name, owner = receiver.name.lower(), receiver.parent
            is_inherited = owner is not None and isinstance(owner.cls, Class) and owner.cls.has_unknown_base()
            if is_inherited and not library.only_computes(name, library.CALLED_WITHOUT_BACKWARD, ()):
                return True
        if any(word in name for word in _LEAVES_GRADIENTS):
            return False
        given = (option for value in record.arguments.values() for option, _ in options(value))
        is_named_so = name.startswith("on_") or any(word in name for word in _MAY_CLEAR)
        return is_named_so or any(self._is_it(option) for option in given)

    def _is_it(self, value: Value) -> bool:
        """Whether the value is the optimizer, or came from where that did."""
        return value is self._optimizer or (isinstance(value, Opaque) and value.call in {self._optimizer.call} - {None})

    @property
    def backward(self) -> Call:
        """The last call before the step that computes gradients; the last one at all if none comes before."""
        before = [record for record in self._backwards if record.id < self.step.record.id]
        return Call(self._facts, (before or self._backwards)[-1])

    @property
    def optimizer(self) -> str | None:
        """The optimizer, as it is written where it steps; None where that is no plain name."""
        given = self.step.argument("optimizer", 0)
        place = given.value_place if given is not None else None
        text = place.text if place is not None else self.step.callee.rpartition(".")[0]
        return text if all(part.isidentifier() for part in text.split(".")) else None

    # ------------------------------------------------------------ at the wrong time

    @property
    def is_cleared_in_time(self) -> Truth:
        """Whether gradients are cleared when no step needs them any more: NO if a call loses those that one needs."""
        return answer(UNKNOWN if self.misplaced_clear is None else NO)

    @property
    def misplaced_clear(self) -> Call | None:
        """The call that clears gradients that the step still needs."""
        return self._too_early or self._too_often

    @property
    def is_cleared_early(self) -> bool:
        """Whether that call comes between `backward` and the step, and not before `backward`."""
        return self._too_early is not None

    @property
    def can_be_moved(self) -> bool:
        """Whether that call is a statement of its own in the function that steps."""
        clear = self.misplaced_clear
        return clear is not None and clear.record.frame is self.step.record.frame and is_statement(self._facts, clear)

    @property
    def _too_early(self) -> Call | None:
        """The call that clears what `backward` has computed before the step uses it, in every round."""
        events = sorted(
            (*self._own(self._clears_of_it()), *self._own(self._backwards), self.step.record), key=lambda one: one.id
        )
        before = events[events.index(self.step.record) - 1]
        is_clear = any(before is record for record in self._clears)
        if not is_clear or self.step.record.loops[-1] is not self._loop or not self._own(self._backwards):
            return None
        is_sure = same_or_weaker(self._facts, before, self.step.record) and not self._has_unknown_between(before)
        return Call(self._facts, before) if is_sure else None

    @property
    def _too_often(self) -> Call | None:
        """The call that clears in every round of a loop that steps only in some: what other rounds computed is lost."""
        facts, step = self._facts, self.step.record
        tests = {facts.text_of(test) for test, _ in step.guards}
        for clear in self._clears_of_it():
            after = [record for record in self._backwards if record.loops[-1] is clear.loops[-1]]
            own = {facts.text_of(test) for test, _ in clear.guards}
            if (
                not after
                or len(after) < len(self._backwards)
                or not all(same_or_weaker(facts, clear, b) for b in after)
            ):
                continue
            if clear.loops[-1] is not self._loop:
                # The step follows the loop over the parts of its batch.
                is_last = self._loop is step.loops[-1] and after[-1].id < step.id
                if is_last and not self._is_stepped_in(clear.loops[-1]):
                    return Call(facts, clear)
                continue
            around = [{facts.text_of(test) for test, _ in record.guards} for record in after]
            counted = {text for text in tests - own if "%" in text and not any(text in one for one in around)}
            if counted or (clear.id < after[0].id and self._accumulates(clear)):
                return Call(facts, clear)
        return None

    def _is_stepped_in(self, loop: ast.AST) -> bool:
        """Whether the same optimizer also steps in an inner loop."""
        steps = optimizer_steps(self._facts)
        return any(loop in step.record.loops for step, optimizer in steps if optimizer is self._optimizer)

    def _accumulates(self, clear: CallRecord) -> bool:
        """Whether accelerate decides in which rounds the optimizer steps, in a block around all of it."""
        facts = self._facts
        ways = [_nodes_on_the_way(record) for record in (clear, self.step.record)]
        for context in facts.calls("accumulate"):
            around = [one for one in facts.source.statements if _enters(one, context.record.node)]
            if any(all(not way.isdisjoint(ast.walk(block)) for way in ways) for block in around):
                return is_for_several_batches(facts, context.record.receiver)
        return False

    def _clears_of_it(self) -> list[CallRecord]:
        """The calls that clear the gradients of this optimizer, or of the one model that is trained."""
        facts = self._facts
        if all(called_on(facts, record) is self._optimizer for record in self._clears):
            return self._clears
        others = {called_on(facts, record) for record in facts.index.named(("step",))} - {self._optimizer}
        is_only_one = not any(is_optimizer(facts, other) for other in others)
        reached = facts.machine.reached_gradient
        trained = {record.receiver for record in facts.index.named(("()",)) if record.id in reached}
        return [
            record
            for record in self._clears
            if called_on(facts, record) is self._optimizer
            or (is_only_one and record.receiver in trained and len(trained) == 1)
        ]

    def _own(self, records: list[CallRecord]) -> list[CallRecord]:
        """Those that are made once in each round of the loop."""
        return [record for record in records if record.loops[-1] is self._loop]

    def _has_unknown_between(self, clear: CallRecord) -> bool:
        """Whether something unknown between the two may compute gradients."""
        first, last = clear.id, self.step.record.id
        return any(
            not record.is_resolved
            and (first < record.id < last or (last < first and not last <= record.id <= first))
            and any(word in record.name.lower() for word in library.MAY_CALL_BACKWARD)
            for record in self._facts.records
            if self._loop in record.loops
        )


def updates(facts: Facts) -> Iterator[Update]:
    """The steps of optimizers in loops that compute gradients, but not those that are given a closure."""
    index = CallIndex(facts.index.named_so(lambda name: name in BACKWARDS or _clears(name)))
    for step, optimizer in optimizer_steps(facts):
        beside = index.under(step.record.frame.root)
        found = [common_loop(step.record, record) for record in beside.named(BACKWARDS)]
        loops = [loop for loop in found if loop is not None]
        if loops:
            yield Update(facts, step, optimizer, max(loops, key=step.record.loops.index), beside)


def optimizer_steps(facts: Facts) -> Iterator[tuple[Call, Object]]:
    """The calls of `step` of an optimizer, or of a loss scaler with one, each with the optimizer."""
    for call in facts.calls("step"):
        given = call.record.arguments
        stepped, first = called_on(facts, call.record), given.get("optimizer", 0)
        if stepped is not None and is_optimizer(facts, stepped):
            if not given.values():
                yield call, stepped
        elif isinstance(first, Object) and is_optimizer(facts, first):
            yield call, first


def called_on(facts: Facts, record: CallRecord) -> Object | None:
    """What a method is called on; of what something unknown returned, what its name stands for."""
    receiver = record.receiver
    if isinstance(receiver, Object):
        return receiver
    if not isinstance(receiver, Opaque) or receiver.call is None:
        return None
    name = Call(facts, record).callee.rpartition(".")[0].rpartition(".")[2]
    return facts.machine.children.get((receiver.call, f"held {name}"))


def _clears(name: str) -> bool:
    return any(word in name for word in _CLEARS)


def is_optimizer(facts: Facts, value: object) -> bool:
    """Whether it is an optimizer: by its class, or, if it comes from outside, by its name."""
    if not isinstance(value, Object):
        return False
    kind = facts.machine.kind(value)
    if kind is not None or not value.is_outside or value.cls is not None:
        return kind == "optimizer"
    named = value if value.name != "[]" or value.parent is None else value.parent
    words = named.name.lower().strip("_").split("_")
    return any(word.startswith("optim") or word in {"opt", "opts"} for word in words) and "scheduler" not in words


def common_loop(one: CallRecord, other: CallRecord) -> ast.AST | None:
    """The innermost loop that both calls are made in."""
    common = None
    if one.frame.root is other.frame.root:
        for mine, its in zip(one.loops, other.loops, strict=False):
            if mine is not its:
                break
            common = mine
    return common


def same_or_weaker(facts: Facts, one: CallRecord, other: CallRecord) -> bool:
    """Whether every test that decides for `one` decides for `other` too, and in the same way."""
    needed = {(facts.text_of(test), came_out) for test, came_out in other.guards}
    return all((facts.text_of(test), came_out) in needed for test, came_out in one.guards)


def is_statement(facts: Facts, call: Call) -> bool:
    """Whether the call is a statement of its own of this module."""
    return any(isinstance(node, ast.Expr) and node.value is call.record.node for node in facts.source.statements)


def _nodes_on_the_way(record: CallRecord) -> set[ast.AST]:
    """The call, and those that lead to it."""
    return {record.node, *(frame.call for frame in record.frame.chain() if frame.call is not None)}


def _enters(node: ast.AST, context: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(item.context_expr is context for item in node.items)


def is_for_several_batches(facts: Facts, accelerator: object) -> bool:
    """False if the accelerator is made here and never told to accumulate, or told so for a single batch."""
    made = facts.machine.calls.get(accelerator.call or 0) if isinstance(accelerator, Object) else None
    if made is None:
        return isinstance(accelerator, Object) and "accelerator" in accelerator.name
    steps = made.arguments.get("gradient_accumulation_steps")
    is_single = isinstance(steps, Constant) and steps.value == 1 and not steps.may
    return (steps is not None and not is_single) or made.arguments.get("gradient_accumulation_plugin") is not None
