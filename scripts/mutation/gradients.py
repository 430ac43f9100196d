"""LLM301: one protection against gradients is taken away from a function that runs a model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutant

CODE = "LLM301"

PROTECTIONS = frozenset({"no_grad", "inference_mode"})

# How people call the thing that they run; a verb in front means that the thing is made or changed, not run.
_MODEL = re.compile(
    r"_?(?:\w+_)?(?:model|net|network|encoder|decoder|backbone|transformer|lm|llm|mlm|policy|critic|classifier|student"
    r"|teacher|gpt|bert|vit|actor)_?\d*"
)
_MADE = re.compile(
    r"_?(?:add|apply|assert|build|cast|check|clean|compare|compile|compute|configure|convert|copy|create|delete"
    r"|disable|dispatch|download|enable|extract|for|freeze|from|fuse|generate|get|has|init|initialize|inject|is|load|log"
    r"|make|materialize|maybe|merge|move|offload|parallelize|patch|prepare|process|push|quantize|register|remove"
    r"|replace|reset|run|save|set|setup|shard|sync|test|train|unwrap|update|upload|use|validate|wrap|\w*_prepare)_"
)

_LIBRARY_CALLED = frozenset(
    {"forward", "validation_step", "test_step", "predict_step", "prediction_step", "compute_metrics", "compute_loss"}
)
"""Functions that a library calls under its own protection, or whose caller decides: the rule leaves them alone."""


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of a program."""
    for node in program.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _without_decorator(program, node)
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from _without_block(program, node)


def _without_decorator(program: Program, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mutant]:
    if not _runs_a_model(function.body) or _decided_outside(program, function) or function.name in _LIBRARY_CALLED:
        return
    for decorator in function.decorator_list:
        if _protects(decorator):
            start, end = program.span(decorator)
            at = program.text.rindex("@", 0, start)
            found = mutant(program, CODE, "decorator", [Replacement(at, end, "")], program.rows(function))
            if found is not None:
                yield found


def _without_block(program: Program, block: ast.With | ast.AsyncWith) -> Iterator[Mutant]:
    if not _runs_a_model(block.body) or _decided_outside(program, block):
        return
    protecting = [item for item in block.items if _protects(item.context_expr)]
    if not protecting:
        return
    left = [item for item in block.items if item not in protecting]
    replacements = [_items(program, block, left)] if left else program.dedented(block)
    found = mutant(program, CODE, "block", replacements, program.rows(block))
    if found is not None:
        yield found


def _items(program: Program, block: ast.With | ast.AsyncWith, left: list[ast.withitem]) -> Replacement:
    parts = [program.text[slice(*_item_span(program, item))] for item in left]
    first, last = block.items[0], block.items[-1]
    return Replacement(_item_span(program, first)[0], _item_span(program, last)[1], ", ".join(parts))


def _item_span(program: Program, item: ast.withitem) -> tuple[int, int]:
    start, end = program.span(item.context_expr)
    return start, end if item.optional_vars is None else program.span(item.optional_vars)[1]


def _protects(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and last_name(node.func) == "set_grad_enabled":
        return any(isinstance(argument, ast.Constant) and argument.value is False for argument in node.args)
    return last_name(node.func if isinstance(node, ast.Call) else node) in PROTECTIONS


def _decided_outside(program: Program, node: ast.AST) -> bool:
    """Whether another protection is around, or what is around belongs to a library's protected step."""
    for each in program.ancestors(node):
        if isinstance(each, ast.With | ast.AsyncWith) and any(_protects(item.context_expr) for item in each.items):
            return True
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and (
            each.name in _LIBRARY_CALLED or any(_protects(decorator) for decorator in each.decorator_list)
        ):
            return True
    return False


def _runs_a_model(body: Iterable[ast.stmt]) -> bool:
    """Whether a statement itself, not a function that it defines, calls something named like a model."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Call) and _is_model(node.func):
            return True
        waiting.extend(ast.iter_child_nodes(node))
    return False


def _is_model(called: ast.expr) -> bool:
    name = last_name(called)
    if name == "forward" and isinstance(called, ast.Attribute):
        return _is_model(called.value)
    if isinstance(called, ast.Attribute) and dotted(called).partition(".")[0] in {"torch", "nn", "F", "np"}:
        return False
    return bool(_MODEL.fullmatch(name)) and not _MADE.match(name)
