"""LLM302 and LLM303: what keeps half precision off the CPU, or float32 inputs off half weights, is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutant

AUTOCAST, ON_CPU = "LLM302", "LLM303"

_GPU = re.compile(r"cuda|gpu|device", re.IGNORECASE)
_HALF = frozenset({"float16", "half"})


def mutants_on_cpu(program: Program) -> Iterator[Mutant]:
    """Every mutant in which half precision reaches the CPU."""
    if any(_is_half(node) for node in program.nodes):
        for node in program.nodes:
            if isinstance(node, ast.IfExp):
                yield from _unconditional(program, node)
            elif isinstance(node, ast.If):
                yield from _unguarded(program, node)
            elif isinstance(node, ast.Call):
                yield from _left_on_cpu(program, node)


def mutants_of_autocast(program: Program) -> Iterator[Mutant]:
    """Every mutant in which half weights meet float32 inputs."""
    if any(_is_half(node) for node in program.nodes):
        for node in program.nodes:
            if isinstance(node, ast.With | ast.AsyncWith):
                yield from _without_autocast(program, node)


def _is_half(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _HALF
    return isinstance(node, ast.Constant) and node.value in {"float16", "fp16"}


def _mentions_half(node: ast.AST) -> bool:
    return any(_is_half(each) for each in ast.walk(node))


def _unconditional(program: Program, choice: ast.IfExp) -> Iterator[Mutant]:
    """`torch.float16 if on_gpu else torch.float32` is `torch.float16`."""
    if _is_half(choice.body) and not _mentions_half(choice.orelse) and _GPU.search(ast.unparse(choice.test)):
        half = program.text[slice(*program.span(choice.body))]
        yield from _one(program, ON_CPU, "choice", [program.blanked(choice, half)], choice)


def _unguarded(program: Program, guard: ast.If) -> Iterator[Mutant]:
    """`if on_gpu: model.half()` is `model.half()`."""
    called = any(
        isinstance(node, ast.Call) and last_name(node.func) in {"half", "to"} and _mentions_half(node)
        for statement in guard.body
        for node in ast.walk(statement)
    )
    if called and _GPU.search(ast.unparse(guard.test)):
        yield from _one(program, ON_CPU, "guard", program.dedented(guard), guard)


def _without_autocast(program: Program, block: ast.With | ast.AsyncWith) -> Iterator[Mutant]:
    names = [item.context_expr for item in block.items]
    if len(names) == 1 and isinstance(names[0], ast.Call) and last_name(names[0].func) == "autocast":
        yield from _one(program, AUTOCAST, "autocast", program.dedented(block), block)


def _left_on_cpu(program: Program, call: ast.Call) -> Iterator[Mutant]:
    """`model.half().to("cuda")` is `model.half()`."""
    if not isinstance(call.func, ast.Attribute) or not _moves_to_gpu(call.func.attr, call.args):
        return
    receiver = call.func.value
    is_model = _mentions_half(receiver) or "model" in dotted(receiver)
    if is_model and _mentions_half(program.function_of(call) or program.tree):
        removed = Replacement(program.span(receiver)[1], program.span(call)[1], "")
        yield from _one(program, ON_CPU, "move", [removed], call)


def _moves_to_gpu(method: str, arguments: Sequence[ast.expr]) -> bool:
    if method == "cuda":
        return not arguments
    only = arguments[0] if method == "to" and len(arguments) == 1 else None
    return isinstance(only, ast.Constant) and str(only.value).startswith("cuda")


def _one(
    program: Program, code: str, kind: str, replacements: list[Replacement], node: ast.expr | ast.stmt
) -> Iterator[Mutant]:
    found = mutant(program, code, kind, replacements, program.rows(node), [program.scope_rows(node)])
    if found is not None:
        yield found
