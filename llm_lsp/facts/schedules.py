"""How learning rate schedules are stepped: before or after their optimizer, with every batch or with every epoch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.updates import common_loop, is_statement, optimizer_steps, same_or_weaker
from llm_lsp.facts.values import Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["ScheduleStep", "schedule_steps"]

_SCHEDULERS = ("torch.optim.lr_scheduler.", "transformers.get_", "transformers.optimization.get_")
_STEPPED_OTHERWISE = ("ReduceLROnPlateau", "ChainedScheduler", "SequentialLR")
"""Schedules that wait for a metric, or hold others that say what they count."""
_COUNTS = {
    "T_max": ("torch.optim.lr_scheduler.CosineAnnealingLR", 1),
    "step_size": ("torch.optim.lr_scheduler.StepLR", 1),
    "milestones": ("torch.optim.lr_scheduler.MultiStepLR", 1),
    "total_iters": ("torch.optim.lr_scheduler.LinearLR", 3),
    "num_training_steps": ("transformers.", None),
    "steps_per_epoch": ("torch.optim.lr_scheduler.OneCycleLR", 4),
    "total_steps": ("torch.optim.lr_scheduler.OneCycleLR", 2),
}
"""Arguments that say how long a schedule is, with what takes them, and where."""
_OF_STEPS = ("num_training_steps", "total_steps", "steps_per_epoch")
"""Those of them that count batches, unless a program says otherwise."""
_COUNTED_IN_BATCHES = ("step", "total", "iter", "batches")
_NO_EPOCHS = ("len(", "step", "iter", "batch", "*")
"""Marks of a length that is counted in something else than epochs."""


class ScheduleStep:
    """A call of a schedule's `step`, seen with those of the optimizer whose rate it sets."""

    __slots__ = ("_facts", "_steps", "call", "made")

    def __init__(self, facts: Facts, call: Call, made: Call | None, steps: list[Call]) -> None:
        self._facts = facts
        self.call = call
        self.made = made
        """The call that makes the schedule; None where that is not seen."""
        self._steps = steps

    @property
    def follows_the_optimizer(self) -> Truth:
        """Whether the optimizer has stepped before the schedule does: NO if in the first round of a loop it comes later."""
        record = self.call.record
        if not self._steps or any(step.record.id < record.id for step in self._steps):
            return answer(UNKNOWN)
        step = self._steps[0].record
        loop = common_loop(record, step)
        is_once = loop is not None and record.loops[-1] is loop
        is_first = is_once and same_or_weaker(self._facts, record, step) and not self._may_have_stepped()
        return answer(NO if is_first else UNKNOWN)

    def _may_have_stepped(self) -> bool:
        """Whether something unknown before the schedule's step trains by its name, or gets the optimizer in the loop."""
        record, optimizer = self.call.record, self.made.record.arguments.get("optimizer", 0) if self.made else None
        before = (one for one in self._facts.index.under(record.frame.root) if one.id < record.id)
        return any(
            not one.is_resolved
            and (
                any(word in one.name.lower() for word in ("train", "step", "fit"))
                or (record.loops[-1] in one.loops and any(given is optimizer for given in one.arguments.values()))
            )
            for one in before
        )

    @property
    def optimizer_step(self) -> Call:
        """The step of the optimizer, the first one."""
        return self._steps[0]

    @property
    def can_be_moved(self) -> bool:
        """Whether the call is a statement of its own, under the same conditions as the one step of the optimizer."""
        step = self._steps[0].record
        is_beside = step.frame is self.call.record.frame and step.loops == self.call.record.loops
        is_alone = len(self._steps) == 1 and is_statement(self._facts, self.call)
        return is_beside and is_alone and same_or_weaker(self._facts, step, self.call.record)

    @property
    def length(self) -> Place | None:
        """The argument that says how long the schedule is, where it says so in batches or in epochs."""
        made = self.made
        given = None if self._argument is None or made is None else made.argument(*self._argument)
        return given.value_place if given is not None else None

    @property
    def _argument(self) -> tuple[str, int | None] | None:
        """The parameter by which the schedule is told its length, and its position."""
        made = self.made
        for name, (owner, position) in _COUNTS.items() if made is not None else ():
            if made is not None and made.name.startswith(owner) and made.argument(name, position) is not None:
                return name, position
        return None

    @property
    def is_counted_in_batches(self) -> Truth:
        """Whether the schedule is as long as there are batches; NO if it is as long as there are epochs."""
        length = self.length
        if length is None or self._argument is None:
            return answer(UNKNOWN)
        text, name = length.text.lower(), self._argument[0]
        is_of_steps = name in _OF_STEPS and any(word in text for word in _COUNTED_IN_BATCHES)
        if "len(" in text or "per_epoch" in text or name == "steps_per_epoch" or is_of_steps:
            return answer(YES)
        return answer(NO if "epoch" in text and not any(mark in text for mark in _NO_EPOCHS) else UNKNOWN)

    @property
    def comes_with_every_batch(self) -> Truth:
        """Whether it is stepped as often as the optimizer; NO if once after a loop in which the optimizer steps often."""
        record, facts = self.call.record, self._facts
        if not self._steps or not record.loops or not facts.is_whole:
            return answer(UNKNOWN)
        loops = {step.record.loops for step in self._steps if step.record.frame.root is record.frame.root}
        if len(loops) != 1 or not same_or_weaker(facts, record, self._steps[0].record):
            return answer(UNKNOWN)
        (inner,) = loops
        if inner == record.loops and len(inner) > 1 and _counts_epochs(facts, inner[-2]):
            return answer(YES)
        is_around = len(inner) == len(record.loops) + 1 and inner[:-1] == record.loops
        return answer(NO if is_around and _counts_epochs(facts, record.loops[-1]) else UNKNOWN)


def schedule_steps(facts: Facts) -> Iterator[ScheduleStep]:
    """The steps of schedules of torch and transformers, unless accelerate or Lightning steps them in its own way."""
    steps = list(optimizer_steps(facts))
    prepared = {
        _made_by(value) for record in facts.index.named(library.PREPARE_METHODS) for value in record.arguments.values()
    }
    for call in facts.calls("step"):
        record = call.record
        if record.arguments.values():
            continue
        for schedule, _ in options(record.receiver) if record.receiver is not None else ():
            made = facts.machine.calls.get(_made_by(schedule) or 0)
            if made is not None and _is_schedule(made) and made.id not in prepared:
                optimizer = made.arguments.get("optimizer", 0)
                mine = [step for step, its in steps if _is_for(optimizer, its, steps) and _is_beside(step, call)]
                yield ScheduleStep(facts, call, Call(facts, made), mine)


def _made_by(value: Value) -> int | None:
    return value.call if isinstance(value, Opaque) else None


def _is_schedule(made: CallRecord) -> bool:
    last = made.name.rpartition(".")[2]
    is_one = made.name.startswith(_SCHEDULERS) and ("schedule" in last or last[:1].isupper())
    return is_one and last not in _STEPPED_OTHERWISE


def _is_for(optimizer: Value | None, its: Object, steps: list[tuple[Call, Object]]) -> bool:
    """Whether the schedule sets the rate of this optimizer: of the one it was made with, or of the only one."""
    if isinstance(optimizer, Object):
        return optimizer is its
    return all(other is its for _, other in steps)


def _is_beside(step: Call, call: Call) -> bool:
    return step.record.frame.root is call.record.frame.root


def _counts_epochs(facts: Facts, loop: ast.AST) -> bool:
    return isinstance(loop, ast.For) and "epoch" in f"{facts.text_of(loop.target)} {facts.text_of(loop.iter)}".lower()
