"""LLM901: what ran in a thread of its own runs in the event loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of

CODE = "LLM901"

_THREADS = {"to_thread": 0, "run_sync": 0, "run_in_threadpool": 0, "run_in_executor": 1}
"""Functions that call what they are given in a thread, with the position of that argument."""
_COMPUTES = re.compile(r"\bmodel\b|\bpipe|generate|encode|embed", re.IGNORECASE)
_ROUTES = frozenset({"get", "post", "put", "patch", "route", "websocket"})


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of a program."""
    for node in program.nodes:
        if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
            yield from _called_directly(program, node, node.value)
        elif isinstance(node, ast.FunctionDef) and _is_route(node) and _COMPUTES.search(ast.unparse(node)):
            start = program.offset(node.lineno, node.col_offset)
            yield from mutants_of(program, CODE, "route", [Replacement(start, start, "async ")], node, anywhere=True)


def _called_directly(program: Program, wait: ast.Await, call: ast.Call) -> Iterator[Mutant]:
    """`await asyncio.to_thread(model.generate, ids)` is `model.generate(ids)`."""
    at = _THREADS.get(last_name(call.func))
    if at is None or len(call.args) <= at or not _COMPUTES.search(ast.unparse(call)):
        return
    callee, rest = call.args[at], call.args[at + 1 :]
    if isinstance(callee, ast.Lambda):
        text = program.source(callee.body)
    else:
        given = [program.source(each) for each in rest]
        given += [f"{word.arg}={program.source(word.value)}" for word in call.keywords if word.arg is not None]
        text = f"{program.source(callee)}({', '.join(given)})"
    yield from mutants_of(program, CODE, "thread", [program.blanked(wait, text)], wait, anywhere=True)


def _is_route(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(decorator, ast.Call) and last_name(decorator.func) in _ROUTES and "." in dotted(decorator.func)
        for decorator in function.decorator_list
    )
