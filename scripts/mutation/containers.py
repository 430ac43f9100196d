"""LLM309, LLM316: tensors come into lists with their graphs, and into dictionaries and sets as keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loops import loops_of
from scripts.mutation.tokenizations import loaded_models

IN_LIST, AS_KEY = "LLM309", "LLM316"

_VALUES = frozenset({"item", "detach", "cpu"})
_COUNTED = re.compile(r"range\(\d+\)")


def mutants_with_kept_tensors(program: Program) -> Iterator[Mutant]:
    """`losses.append(loss.item())` is `losses.append(loss)`; or a loop that keeps nothing keeps its losses.

    Not in a loop of a written number of rounds, which keeps only a few.
    """
    for loop in loops_of(program):
        if loop.before is None or not loop.loss.isidentifier() or _is_short(program, loop.step):
            continue
        begun = program.followed(loop.before, "history = []")
        kept = program.followed(loop.step, f"history.append({loop.loss})")
        yield from mutants_of(program, IN_LIST, "loop", [begun, kept], loop.step, anywhere=True)
    for node in program.nodes:
        if not isinstance(node, ast.Call) or last_name(node.func) != "append" or len(node.args) != 1:
            continue
        kept_tensor = _without_values(node.args[0])
        if kept_tensor is node.args[0] or not re.search(r"loss|hidden_state|logits$", ast.unparse(kept_tensor)):
            continue
        function = ast.unparse(program.function_of(node) or program.tree)
        is_step = ".backward(" in function and f"{ast.unparse(kept_tensor)}.backward" in function
        if is_step and not _is_short(program, node):
            change = program.blanked(node.args[0], program.source(kept_tensor))
            yield from mutants_of(program, IN_LIST, "append", [change], node, anywhere=True)


def mutants_with_tensor_keys(program: Program) -> Iterator[Mutant]:
    """`counts[token.item()]` is `counts[token]`; or what a model gives is counted, or remembered, as it is.

    The latter only where the program loads the model.
    """
    loaded = {name for name, _ in loaded_models(program)}
    for node in program.nodes:
        statement = node if isinstance(node, ast.Assign) else None
        target = dotted(statement.targets[0]) if statement is not None else ""
        made = statement.value if statement is not None else None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            bare = _without_values(node.slice)
            if bare is not node.slice:
                change = program.blanked(node.slice, program.source(bare))
                yield from mutants_of(program, AS_KEY, "key", [change], node, anywhere=True)
        elif statement is None or not isinstance(made, ast.Call) or not target.isidentifier():
            continue
        elif (
            isinstance(made.func, ast.Attribute)
            and made.func.attr == "generate"
            and last_name(made.func.value) in loaded
        ):
            seen = program.followed(statement, f"seen = set(); seen.add({target}[0])")
            yield from mutants_of(program, AS_KEY, "generated", [seen], statement, anywhere=True)
        elif loaded and _is_best(_without_values(made)) and _without_values(made) is not made:
            bare = _without_values(made)
            value = Replacement(program.span(bare)[1], program.span(made)[1], f"; counts = {{}}; counts[{target}] = 1")
            yield from mutants_of(program, AS_KEY, "best", [value], statement, anywhere=True)


def _without_values(node: ast.expr) -> ast.expr:
    """The tensor in `loss.detach().item()`."""
    while (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VALUES | {"tolist"}
    ):
        node = node.func.value
    return node


def _is_best(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "argmax"


def _is_short(program: Program, node: ast.AST) -> bool:
    """Whether the innermost loop has a written number of rounds."""
    loop = next((each for each in program.ancestors(node) if isinstance(each, ast.For | ast.While)), None)
    return isinstance(loop, ast.For) and _COUNTED.fullmatch(ast.unparse(loop.iter)) is not None
