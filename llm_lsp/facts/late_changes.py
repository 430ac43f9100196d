"""What is done to a model after its optimizer was made: parameters that it never sees, moves that it does not follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.layers import has_parameters
from llm_lsp.facts.model_states import is_device
from llm_lsp.facts.modes import is_same_object
from llm_lsp.facts.parameters import may_be_frozen
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.updates import optimizer_steps
from llm_lsp.facts.values import Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord

__all__ = ["LateChange", "late_changes"]

_LOOKS_AT_STATE = re.compile(r"\.state(\[|\.(values|items)\b)")
"""A program that looks at an optimizer's state may move it itself."""
_MAY_START_ANEW = (
    "prepare", "init", "setup", "set_up", "wrap", "reset", "rebuild", "move", "group", "device", "configur", "refresh",
)  # fmt: skip
"""Words in the names of unknown functions that may give an optimizer other parameters, or make another one."""
_NOT_TRAINED = frozenset({"target", "teacher", "ema", "frozen", "old", "ref", "reference", "backup", "average"})
"""Words in the names of layers that follow, or judge, what is trained."""


class LateChange:
    """A change of a model's parameters, with an optimizer of theirs that was made before."""

    __slots__ = ("_attribute", "_facts", "_layer", "_model", "change", "is_move", "optimizer")

    def __init__(
        self, facts: Facts, model: Object, optimizer: CallRecord, change: CallRecord, attribute: str | None
    ) -> None:
        self._facts = facts
        self._model = model
        self._attribute = attribute
        self._layer = change.result if isinstance(change.result, Object) and attribute is not None else None
        self.optimizer = Call(facts, optimizer)
        """The call that makes the optimizer."""
        self.change = Call(facts, change)
        """The call that changes the model, or makes the layer that it is given."""
        self.is_move = change.name in library.MOVES
        """Whether the parameters stay what they are, and lie elsewhere than what the optimizer keeps for them."""

    @property
    def text(self) -> str:
        """What changes the model, or the attribute that gets a layer, as it is written."""
        if self._attribute is None:
            return self.change.callee
        return self._facts.target_of(self.change.record.node) or self._attribute

    @property
    def is_followed(self) -> Truth:
        """Whether the optimizer works with what the model holds after the change: NO if nothing else may see to it."""
        facts, change = self._facts, self.change.record
        looks = self.is_move and _LOOKS_AT_STATE.search(facts.machine.text)
        if not facts.is_whole or looks or self._is_used_up or self._is_left_alone:
            return answer(UNKNOWN)
        is_open = any(self._starts_anew(record) for record in facts.records if record.id > change.id)
        return answer(UNKNOWN if is_open else NO)

    @property
    def was_elsewhere(self) -> Truth:
        """Whether a model that is moved lay on the CPU until then."""
        before = self.change.record.state.get("device")
        return answer(UNKNOWN if before is None else YES if _is_cpu(self._facts, before) else NO)

    @property
    def _is_used_up(self) -> bool:
        """Whether all steps of the optimizer come before the change: what changes then is no longer trained with it."""
        change = self.change.record
        made = self.optimizer.record.result
        steps = [call.record for call, its in optimizer_steps(self._facts) if is_same_object(made, its)]
        is_before = any(step.frame.root is change.frame.root and step.id < change.id for step in steps)
        return is_before and all(step.id < change.id for step in steps)

    @property
    def _is_left_alone(self) -> bool:
        """Whether the layer is not meant to learn with this optimizer, by its name or since it is frozen."""
        machine, layer = self._facts.machine, self._layer
        words = (self._attribute or "").lower().replace(".", "_").split("_")
        return layer is not None and (may_be_frozen(machine, layer) or not _NOT_TRAINED.isdisjoint(words))

    def _starts_anew(self, record: CallRecord) -> bool:
        """Whether the call makes another optimizer or a trainer for the model, or gives this one more to do."""
        made = self.optimizer.record.result
        if isinstance(made, Object) and is_same_object(record.receiver, made):
            return record.name == "add_param_group"
        kind, last = kind_of(record.name), record.name.rpartition(".")[2].lower()
        if kind == "optimizer":
            models = _models_of(self._facts, record)
            return any(is_same_object(model, each) for model in models for each in (self._model, self._layer))
        if kind != "trainer" and (record.is_resolved or not any(word in last for word in _MAY_START_ANEW)):
            return False
        given = [option for value in record.arguments.values() for option, _ in options(value)]
        return any(
            is_same_object(one, self._model) or is_same_object(made, one) for one in given if isinstance(one, Object)
        )


def late_changes(facts: Facts) -> Iterator[LateChange]:
    """The changes of models whose parameters an optimizer was given before, each with the optimizer."""
    if not facts.records or not facts.machine.has_optimizers:
        return
    changes: dict[int, list[tuple[CallRecord, str | None]]] = {}
    for changed, change, attribute in _changes(facts):
        changes.setdefault(changed.id, []).append((change, attribute))
    for optimizer in facts.index.making("optimizer") if changes else ():
        for model in _models_of(facts, optimizer):
            for change, attribute in changes.get(model.id, ()):
                is_later = _comes_later(optimizer, change)
                if is_later and (change.name not in library.MOVES or _keeps_state(facts, optimizer, change)):
                    yield LateChange(facts, model, optimizer, change, attribute)


def _models_of(facts: Facts, optimizer: CallRecord) -> list[Object]:
    """The models whose parameters an optimizer is given."""
    found = [facts.machine.calls[id] for id in optimizer.flow if id in facts.machine.calls]
    asked = [call.receiver for call in found if call.name in library.ASKS_FOR_PARAMETERS]
    return [model for model in asked if isinstance(model, Object)]


def _changes(facts: Facts) -> Iterator[tuple[Object, CallRecord, str | None]]:
    """What gives a model other parameters, or moves it: the model, the call, and the attribute that gets its result."""
    for record in facts.index.named(library.MAKES_ADAPTERS | library.SHARDS | library.MOVES):
        changed = _changed_by(facts, record)
        if changed is not None:
            yield changed, record, None
    calls = facts.machine.calls
    for owner, name, layer in facts.machine.layers_given.values():
        made = calls.get(layer.call or 0)
        if made is not None and has_parameters(facts, layer):
            whole, path = owner, name
            while True:
                yield whole, made, path
                if whole.parent is None or not whole.is_outside:
                    break
                path, whole = f"{whole.name}.{path}", whole.parent


def _changed_by(facts: Facts, record: CallRecord) -> Object | None:
    """The model that a call gives other parameters, or moves to another device."""
    first = record.arguments.get("model", 0) or record.arguments.get("module")
    if record.name in library.MAKES_ADAPTERS or record.name in library.SHARDS:
        keeps = record.arguments.get("use_orig_params")
        is_kept = keeps is not None and not (isinstance(keeps, Constant) and keeps.value is False)
        return first if isinstance(first, Object) and not is_kept else None
    if record.name not in library.MOVES or not isinstance(record.receiver, Object):
        return None
    if record.name == "cuda":
        return record.receiver
    where = [value for value in record.arguments.values() if is_device(value)]
    is_moved = bool(where) and not all(_is_cpu(facts, value) for value in where)
    return record.receiver if is_moved and not facts.sets_default_device else None


def _comes_later(optimizer: CallRecord, change: CallRecord) -> bool:
    """Whether the optimizer is made before, on the same way through the program."""
    decided = dict(optimizer.guards)
    if optimizer.id > change.id or any(decided.get(test, came_out) is not came_out for test, came_out in change.guards):
        return False
    if change.name not in library.MOVES and len(change.loops) > len(optimizer.loops):
        # A layer that each round makes anew is what the program is about.
        return False
    root = change.frame.root
    owner = root.receiver if isinstance(root.receiver, Object) else None
    return optimizer.frame.root is root or any(
        frame.function is not None and frame.function.name == "__init__" and is_same_object(frame.receiver, owner)
        for frame in optimizer.frame.chain()
    )


def _keeps_state(facts: Facts, optimizer: CallRecord, change: CallRecord) -> bool:
    """Whether the optimizer holds numbers for each parameter, where that lies, before the change."""
    if optimizer.name in library.KEEPS_STATE_FROM_THE_START:
        return True
    loads = (call.record for call in facts.calls("load_state_dict"))
    return any(
        isinstance(made := optimizer.result, Object)
        and is_same_object(load.receiver, made)
        and load.id < change.id
        and load.frame.root is change.frame.root
        for load in loads
    )


def _is_cpu(facts: Facts, value: Value) -> bool:
    """Whether a device certainly is the CPU."""
    if isinstance(value, Opaque) and value.cls == "torch.device" and value.call is not None:
        made = facts.machine.calls.get(value.call)
        value = (made.arguments.get("device", 0) or made.arguments.get("type") or value) if made is not None else value
    return isinstance(value, Constant) and value.value == "cpu" and not value.may
