"""Inference that the thread of an event loop itself computes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Function, Object, Opaque, Symbol, Value
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord, Frame
    from llm_lsp.facts.place import Place

__all__ = ["Blocking", "blocking_inferences"]

_STARTS_A_TASK = frozenset({"create_task", "ensure_future"})
_CONSUMES = frozenset({"list", "tuple", "sum", "max", "min", "sorted", "next", "join", "dict", "set", "any", "all"})


class Blocking:
    """A call in a coroutine that computes with a model before it returns."""

    __slots__ = ("_facts", "_frame", "_node", "inference")

    def __init__(self, facts: Facts, inference: Call, node: ast.Call, frame: Frame) -> None:
        self._facts = facts
        self._node = node
        self._frame = frame
        self.inference = inference
        """The run of the model, here or further in."""

    @property
    def place(self) -> Place:
        """The call in the coroutine."""
        return self._facts.place(self._node)

    @property
    def callee(self) -> str:
        """What the coroutine calls, as it is written, on one line."""
        return " ".join(self._facts.text_of(self._node.func).split())

    @property
    def coroutine(self) -> str:
        """The coroutine's name."""
        return self._frame.function.name if self._frame.function is not None else ""

    @property
    def is_prepared(self) -> Truth:
        """Whether this happens before anybody is served: at start-up, in a lifespan, while something is set up."""
        for frame in self.inference.record.frame.chain():
            if frame.function is not None and self._prepares(frame.function):
                return answer(YES)
            if frame.call in self._tasks:
                break  # started there, it goes on while others are served
        return answer(NO)

    @property
    def _tasks(self) -> set[ast.expr]:
        """The coroutines that are made to run beside what starts them."""
        starts = [record.node for record in self._facts.index.named_so(lambda name: _last_part(name) in _STARTS_A_TASK)]
        return {given for node in starts if isinstance(node, ast.Call) for given in node.args}

    def _prepares(self, function: Function) -> bool:
        made = [
            self._facts.machine.calls.get(value.call or 0) for value in function.decorators if isinstance(value, Opaque)
        ]
        decorators = {record.name.rpartition(".")[2] for record in made if record is not None}
        decorators |= {value.name.rpartition(".")[2] for value in function.decorators if isinstance(value, Symbol)}
        return library.prepares(function.name) or not decorators.isdisjoint(library.PREPARING_DECORATORS)

    @property
    def keeps_others_waiting(self) -> Truth:
        """Whether other tasks may run in the event loop: not where a script does nothing but run one coroutine."""
        if self._facts.is_test_module:
            return answer(NO)
        if not self._frame.is_of_script:
            return answer(YES)
        names = {record.name.rpartition(".")[2] for record in self._facts.script_records}
        return answer(YES if names & library.STARTS_TASKS else UNKNOWN)

    @property
    def in_a_thread(self) -> str | None:
        """The same call, awaited in a thread of its own; None where that may not be written, or would change what it does.

        A thread begins with gradients on and without autocast, whatever the coroutine has switched.
        """
        function = self._frame.function
        if function is None or self._switches_around(function.node) or self._makes_a_generator:
            return None
        if any(isinstance(part, ast.GeneratorExp) and _holds(part, self._node) for part in ast.walk(function.node)):
            return None
        if any(isinstance(part, (ast.Await, ast.GeneratorExp)) for part in ast.walk(self._node)):
            return None
        callee = self._facts.text_of(self._node.func)
        rest = self._facts.text_of(self._node)[len(callee) :].strip()[1:-1]
        start = rest[: len(rest) - len(rest.lstrip())] if "\n" in rest else ""
        separator = "," + (start or " ") if rest.strip() else ""
        text = f"await {self._facts.spelled('asyncio.to_thread')}({start}{callee}{separator}{rest.lstrip()})"
        return text if self._stands_alone(function.node) else f"({text})"

    def _switches_around(self, function: ast.AST) -> bool:
        """Whether a block, or a statement of the coroutine, switches gradients or autocast."""
        text = self._facts.text_of(function)
        is_switched = any(word in text for word in ("_grad", "inference_mode", "autocast"))
        return is_switched or (self.inference.name == "()" and self.inference.gradients is not YES and self._is_direct)

    @property
    def _makes_a_generator(self) -> bool:
        """Whether the call only makes a generator, which computes where it is run through."""
        entered = [frame.function for frame in self.inference.record.frame.chain() if frame.call is self._node]
        return any(function is not None and self._facts.machine.is_generator(function.node) for function in entered)

    @property
    def _is_direct(self) -> bool:
        return self.inference.record.node is self._node

    def _stands_alone(self, function: ast.AST) -> bool:
        """Whether nothing binds the call more tightly than `await` does."""
        for part in ast.walk(function):
            if isinstance(part, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)) and part.value is self._node:
                return True
            if isinstance(part, ast.Call) and (
                self._node in part.args or any(keyword.value is self._node for keyword in part.keywords)
            ):
                return True
        return False


def blocking_inferences(facts: Facts) -> Iterator[Blocking]:
    """The calls in coroutines that compute with a model, each once."""
    if not any(isinstance(node, ast.AsyncFunctionDef) for node in facts.machine.functions):
        return
    calls = [call for call in _inferences(facts) if _is_led_to_by_a_coroutine(call)]
    if not calls:
        return
    handed = _handed_over(facts)
    awaited, consumed = _ways_of_use(facts)
    seen: set[ast.AST] = set()
    for call in calls:
        found = _in_coroutine(facts, call.record, handed, consumed)
        if found is not None and found[0] not in seen and found[0] not in awaited:
            seen.add(found[0])
            yield Blocking(facts, call, *found)


def _is_led_to_by_a_coroutine(call: Call) -> bool:
    functions = (frame.function for frame in call.record.frame.chain() if frame.function is not None)
    return any(isinstance(function.node, ast.AsyncFunctionDef) for function in functions)


def _inferences(facts: Facts) -> Iterator[Call]:
    """The calls that keep a processor busy: runs of whole models, not of single layers."""
    for record in facts.index.named({*library.RUNS, *library.RUNS_OF_ENGINES}):
        receiver = record.receiver
        if isinstance(receiver, Opaque):
            if receiver.cls in library.ENGINES and record.name in library.RUNS_OF_ENGINES:
                yield Call(facts, record)
        elif isinstance(receiver, Object) and record.name in library.RUNS:
            kind = facts.machine.kind(receiver)
            is_run = kind in library.RUNS[record.name] or (
                kind is None and record.name in {"()", "generate"} and facts.is_model(receiver) is YES
            )
            if is_run:
                yield Call(facts, record)


def _in_coroutine(
    facts: Facts, record: CallRecord, handed: frozenset[ast.AST], consumed: frozenset[ast.AST]
) -> tuple[ast.Call, Frame] | None:
    """The call, in the innermost coroutine that leads to the run, by which it waits for it; None where it doesn't."""
    frame, node = record.frame, record.node
    if any(isinstance(loop, ast.GeneratorExp) and loop not in consumed for loop in record.loops):
        return None
    while node not in handed and isinstance(node, ast.Call) and frame.function is not None:
        function = frame.function
        if isinstance(function.node, ast.AsyncFunctionDef):
            return node, frame
        call = frame.call
        is_later = facts.machine.is_generator(function.node) and call not in consumed
        if call is None or frame.parent is None or is_later or not _runs_as_written(function):
            return None
        frame, node = frame.parent, call
    return None


def _runs_as_written(function: Function) -> bool:
    """Whether the decorators of a function leave it in the thread that calls it."""
    return all(_is_known(value) for value in function.decorators)


def _is_known(decorator: Value) -> bool:
    name = decorator.name if isinstance(decorator, Symbol) else decorator.cls if isinstance(decorator, Opaque) else None
    return isinstance(decorator, Function) or (name is not None and name.partition(".")[0] in library.LIBRARY_ROOTS)


def _handed_over(facts: Facts) -> frozenset[ast.AST]:
    """The calls that have a function run elsewhere, or later."""
    names = {*library.STARTS_WHAT_IT_IS_GIVEN, *library.RUNS_WHAT_IT_IS_GIVEN, *library.STARTERS}
    last = {_last_part(name) for name in names}
    return frozenset(record.node for record in facts.index.named_so(lambda name: _last_part(name) in last))


def _ways_of_use(facts: Facts) -> tuple[frozenset[ast.AST], frozenset[ast.AST]]:
    """The expressions that are awaited, and those that are run through at once."""
    awaited: set[ast.AST] = set()
    consumed: set[ast.AST] = set()
    for node in ast.walk(facts.source.tree):
        if isinstance(node, ast.Await):
            awaited.add(node.value)
        elif isinstance(node, ast.AsyncFor):
            awaited.add(node.iter)
        elif isinstance(node, ast.comprehension):
            (awaited if node.is_async else consumed).add(node.iter)
        elif isinstance(node, ast.For):
            consumed.add(node.iter)
        elif isinstance(node, ast.YieldFrom):
            consumed.add(node.value)
        elif isinstance(node, ast.Call) and _name_of(node.func) in _CONSUMES:
            consumed.update(node.args)
    return frozenset(awaited), frozenset(consumed)


def _holds(node: ast.AST, part: ast.AST) -> bool:
    return any(inner is part for inner in ast.walk(node))


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
