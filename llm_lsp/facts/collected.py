"""Tensors that lists collect over the rounds of a loop, with their graphs, or on the device where they were computed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import OVERFLOW, Object, Opaque, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import tensors

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord, Frame
    from llm_lsp.facts.place import Place

__all__ = ["CollectedTensor", "collected_tensors"]

Owners = dict[int, tuple[Value, object]]
_LONGEST_WAY = 12
_ACCELERATORS = ("cuda", "auto", "balanced", "xpu", "mps", "npu", "hpu")
_FEW = (ast.Tuple, ast.List, ast.Constant, ast.Set)


class CollectedTensor:
    """An `append` of what a model gave, or of what gradients are computed of, in a loop."""

    __slots__ = ("_facts", "_names", "_run", "_switched", "call")

    def __init__(self, facts: Facts, call: Call, owners: Owners) -> None:
        self._facts = facts
        self.call = call
        self._run, self._names, self._switched = _part_of_a_run(facts, call.record.arguments.positional[0], owners)

    @property
    def text(self) -> str:
        """What is appended, as it is written."""
        place = self.term
        return place.text if place is not None else ""

    @property
    def term(self) -> Place | None:
        node = self.call.record.node
        return self._facts.place(node.args[0]) if isinstance(node, ast.Call) and node.args else None

    @property
    def collection(self) -> str:
        """The list, as it is written."""
        node = self.call.record.node
        function = node.func if isinstance(node, ast.Call) else None
        return self._facts.text_of(function.value) if isinstance(function, ast.Attribute) else ""

    @property
    def keeps_graph(self) -> Truth:
        """Whether the graph of every round stays in the list, although gradients were computed of it in that round."""
        machine, record = self._facts.machine, self.call.record
        reached = machine.reached_gradient
        if record.id in reached:
            return answer(NO)
        value = record.arguments.positional[0]
        is_known = machine.is_complete and OVERFLOW not in reached and record.id not in machine.escaped
        is_on = self.call.gradients is YES and "detach" not in self._switched
        is_used = any(one.value is value for one in machine.differentiated) or (
            self._run is not None and self._run.id in reached and tensors.has_graph(self._names)
        )
        return answer(YES if is_known and is_on and is_used and self._grows else UNKNOWN)

    @property
    def stays_on_the_accelerator(self) -> Truth:
        """Whether every round leaves what a model computed for each token on the device where it computed it."""
        run = self._run
        if run is None or not isinstance(run.receiver, Object):
            return answer(UNKNOWN)
        is_quiet = Call(self._facts, run).gradients is NO or "detach" in self._switched
        is_large = tensors.is_of_each_token(self._names, _class_of(run.receiver))
        is_known = is_quiet and is_large and run.loops[-1:] == self.call.record.loops[-1:] and self._is_far(run)
        return answer(YES if is_known and self._grows else UNKNOWN)

    def _is_far(self, run: CallRecord) -> bool:
        """Whether the model that ran lies on an accelerator, or does where there is one."""
        devices = [str(choice.value) for choice in Call(self._facts, run).devices()]
        return any(device.startswith(_ACCELERATORS) for device in devices)

    @property
    def _grows(self) -> bool:
        """Whether the list is older than the loop over data, and the loop neither empties it nor, on some path, detaches."""
        loop = self._loop
        if loop is None:
            return False
        detached = rf"(?<![\w.]){re.escape(self.text)}\s*=(?!=)[^\n]*\.(detach|item|data|cpu|tolist)\b"
        if re.search(detached, self._facts.text_of(loop)) is not None:
            return False
        name = re.escape(self.collection)
        emptied = rf"(?<![\w.]){name}(\s*(:[^=\n]+)?=[^=]|\.(clear|pop|remove)\(|\[\s*\d*:)|\bdel\s+{name}\b"
        return re.search(emptied, self._facts.text_of(loop)) is None

    @property
    def _loop(self) -> ast.For | ast.AsyncFor | None:
        """The innermost loop around the call, if the list was made outside of it and it runs through data."""
        record = self.call.record
        made = record.receiver.node if isinstance(record.receiver, Object) else None
        loop = record.loops[-1]
        if made is None or not isinstance(loop, (ast.For, ast.AsyncFor)) or _holds(loop, made):
            return None
        is_older = "." in self.collection or self._is_made_around(made, loop)
        return loop if is_older and self._runs_through_data(loop) else None

    def _is_made_around(self, made: ast.AST, loop: ast.AST) -> bool:
        """Whether the function of the loop makes the list, or one that leads there: what a round calls may make a new one."""
        chain = self.call.record.frame.chain()
        at = next((index for index, frame in enumerate(chain) if _function_holds(frame, loop)), 0)
        callers = [frame.function for frame in chain[at + 1 :] if frame.function is not None]
        return _function_holds(chain[at], made) or any(_holds(caller.node, made) for caller in callers)

    def _runs_through_data(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether the rounds are as many as there are data: no written number or handful of them."""
        given = loop.iter
        if isinstance(given, ast.Call) and given.args and self._facts.text_of(given.func) in {"range", "trange"}:
            return len(given.args) > 1 and not all(isinstance(part, _FEW) for part in given.args)
        text = self._facts.text_of(given)
        return (
            not isinstance(given, _FEW)
            and re.search(r"layer|block|head|module|expert|states|scale|level", text) is None
        )


def collected_tensors(facts: Facts) -> Iterator[CollectedTensor]:
    """The appends of this module."""
    calls = [call for call in facts.calls("append") if _is_of_a_list(call) and call.place.path == facts.source.path]
    if calls:
        owners = {id(part): (owner, name) for (_, name), (owner, part) in facts.machine.parts.items()}
        yield from (CollectedTensor(facts, call, owners) for call in calls)


def _is_of_a_list(call: Call) -> bool:
    record = call.record
    is_list = isinstance(record.receiver, Object) and record.receiver.cls == "builtins.list"
    return is_list and bool(record.loops) and len(record.arguments.positional) == 1


def _part_of_a_run(facts: Facts, value: Value, owners: Owners) -> tuple[CallRecord | None, list[object], set[str]]:
    """The run of a model that gave the value as it is, the names of the parts on the way, and what was called on these."""
    machine = facts.machine
    names: list[object] = []
    switched: set[str] = set()
    for _ in range(_LONGEST_WAY):
        noted = machine.derived.get(id(value))
        if noted is not None and noted[1] in {"detach", "cuda"}:
            switched.add(noted[1])
            value = noted[2][0]
        elif noted is None and id(value) in owners:
            value, name = owners[id(value)]
            names.append(name)
        else:
            break
    made = machine.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
    is_run = made is not None and made.name == "()" and id(value) not in machine.derived
    return (made if is_run else None), names, switched


def _class_of(model: Object) -> str:
    return model.cls if isinstance(model.cls, str) else ""


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether one piece of the same file lies in the other."""
    first, last = getattr(outer, "lineno", 0), getattr(outer, "end_lineno", 0) or 0
    return first <= getattr(inner, "lineno", -1) <= last


def _function_holds(frame: Frame, node: ast.AST) -> bool:
    function = frame.function
    return _holds(function.node, node) if function is not None else True
