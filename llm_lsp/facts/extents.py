"""How much of a program can go under a context manager without taking anything else along."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Range
from llm_lsp.facts.chains import way
from llm_lsp.facts.truth import NO, UNKNOWN, YES
from llm_lsp.facts.values import Object, Opaque, options
from llm_lsp.knowledge import library
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.values import Function
    from llm_lsp.facts.views import Call

__all__ = ["TRAINS", "Extent", "inference_around", "training_nodes"]

TRAINS = frozenset({"backward", "manual_backward", "torch.autograd.backward", "torch.autograd.grad"})
_WORDS_OF_TRAINING = ("train", "fit", "finetune", "fine_tune", "learn", "optimi")
_NOT_TO_BE_INTERRUPTED = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Yield, ast.YieldFrom)
"""Where a block is left while its context stays switched: for other tasks, or for whoever takes the next item."""

Block = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module | ast.ClassDef


class Extent(NamedTuple):
    """What can be put under a context without taking anything else along."""

    range: Range
    is_function: bool
    """Whether it is the whole body of the function that `range` lies in, rather than the statement there."""


def training_nodes(facts: Facts) -> frozenset[ast.AST]:
    """The calls that train, or may, and those that lead to them."""
    return frozenset(node for call in facts.every_call() if _may_train(facts, call) for node in way(call))


def inference_around(facts: Facts, call: Call, place: Place) -> Extent | None:
    """The function around `place` if it only infers; else the outermost such loop there, or the statement."""
    function = _function_at(facts, call, place)
    body: Block = function.node if function is not None else facts.source.tree
    if isinstance(body, ast.Lambda):
        return None
    around = _statements_around(body, place)
    switches = [index for index, statement in enumerate(around) if _switches_gradients(facts, statement)]
    if isinstance(body, ast.FunctionDef) and not switches and _only_infers(facts, body):
        return Extent(place.range, is_function=True)
    inside = around[switches[-1] + 1 :] if switches else around
    loops = [statement for statement in inside if isinstance(statement, (ast.For, ast.While))]
    for statement in [*loops, *around[-1:]]:
        if _only_infers(facts, statement) and not _is_interrupted(statement):
            return Extent(facts.place(statement).range, is_function=False)
    return None


def _function_at(facts: Facts, call: Call, place: Place) -> Function | None:
    """The function in whose body `place`, a call on the way to `call`, is written."""
    for frame in call.record.frame.chain():
        if frame.call is not None and frame.parent is not None and facts.place(frame.call) == place:
            return frame.parent.function
    return call.record.frame.function


def _statements_around(body: Block, place: Place) -> list[ast.stmt]:
    """The statements that hold the place, the outermost first."""
    row = place.range.start.row
    holding: list[ast.stmt] = []
    pending: list[ast.AST] = [body]
    while pending:
        node = pending.pop()
        pending += [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        for name in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] | ast.expr = getattr(node, name, [])
            if isinstance(block, list):
                first = bisect_left(block, row, key=lambda one: one.end_lineno or one.lineno)
                met = block[first : bisect_right(block, row, first, key=lambda one: one.lineno)]
                holding += met
                pending += met
    return sorted(holding, key=lambda node: (node.lineno, -(node.end_lineno or 0), node.col_offset))


def _switches_gradients(facts: Facts, statement: ast.stmt) -> bool:
    """Whether it is a block that says itself whether gradients are on: what is put around it has no effect inside."""
    if not isinstance(statement, (ast.With, ast.AsyncWith)):
        return False
    return any("grad" in facts.text_of(item.context_expr) for item in statement.items)


def _is_interrupted(statement: ast.stmt) -> bool:
    return any(isinstance(node, _NOT_TO_BE_INTERRUPTED) for node in ast.walk(statement))


def _only_infers(facts: Facts, body: ast.AST) -> bool:
    return not any(node in facts.training_nodes for node in ast.walk(body))


def _may_train(facts: Facts, call: Call) -> bool:
    """Whether gradients may be needed of what happens in this call."""
    record = call.record
    if record.name in TRAINS | library.GRADIENTS_SET or record.id in facts.machine.reached_gradient:
        return True
    if isinstance(record.receiver, Object) and facts.is_model(record.receiver) is YES:
        is_lost = record.id in facts.machine.graph_ids and call.reaches_gradient is UNKNOWN
        return is_lost and not (call.is_only_returned is YES and call.is_meant_for_inference is YES)
    if record.name.rpartition(".")[2].lower().lstrip("_").startswith(_WORDS_OF_TRAINING):
        return True
    return not record.is_resolved and _is_given_a_model(facts, record)


def _is_given_a_model(facts: Facts, record: CallRecord) -> bool:
    machine = facts.machine
    run = [known for known in machine.children.values() if "()" in machine.uses.get(known.id, ())]
    made = {known.call for known in run if known.call is not None}
    for value in record.arguments.values():
        for option, _ in options(value):
            if isinstance(option, Opaque) and option.call in made:
                return True
            if (
                isinstance(option, Object)
                and "()" in machine.uses.get(option.id, ())
                and facts.is_model(option) is not NO
            ):
                return True
    return False
