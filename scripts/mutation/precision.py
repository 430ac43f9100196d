"""LLM302 and LLM303: what keeps half precision off the CPU, off float32 inputs and off training is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from scripts.mutation.edits import Function, Mutant, Program, Replacement, dotted, last_name, mutant

AUTOCAST, ON_CPU = "LLM302", "LLM303"

_GPU = re.compile(r"cuda|gpu|device", re.IGNORECASE)
_HALF = frozenset({"float16", "half"})
_MODEL = re.compile(r"(?:^|_)(?:model|net|pipe|encoder|lm)$", re.IGNORECASE)
_INPUT = re.compile(r"^(?!.*model).*(?:batch|inputs|features|pixel|values|images|samples)", re.IGNORECASE)


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


def mutants_of_dtype(program: Program) -> Iterator[Mutant]:
    """Every mutant in which half weights meet float32 inputs, or are trained as they are."""
    for node in program.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "from_pretrained" and _trains(program, node):
            yield from _half_for_training(program, node)
        elif node.func.attr in {"to", "half"} and _INPUT.search(ast.unparse(node.func.value)):
            yield from _uncast(program, node, node.func.value)


def _trains(program: Program, load: ast.Call) -> bool:
    """Whether the function or class that loads a model also trains it, and all of it."""
    around = [each for each in program.ancestors(load) if isinstance(each, ast.ClassDef | Function)]
    text = ast.unparse(around[-1] if around else program.tree)
    return ".backward(" in text and "peft" not in program.text


def _half_for_training(program: Program, load: ast.Call) -> Iterator[Mutant]:
    """`dtype=torch.bfloat16` is `dtype=torch.float16`."""
    for keyword in load.keywords:
        if keyword.arg in {"dtype", "torch_dtype"} and last_name(keyword.value) == "bfloat16":
            half = program.text[slice(*program.span(keyword.value))].replace("bfloat16", "float16")
            yield from _one(program, AUTOCAST, "dtype", [program.blanked(keyword.value, half)], load)


def _uncast(program: Program, cast: ast.Call, value: ast.expr) -> Iterator[Mutant]:
    """`pixels.to("cuda", torch.float16)` is `pixels.to("cuda")`, `pixels.half()` is `pixels`."""
    end = program.span(cast)[1]
    if not cast.args and not cast.keywords and last_name(cast.func) == "half":
        yield from _one(program, AUTOCAST, "cast", [Replacement(program.span(value)[1], end, "")], cast)
    elif len(cast.args) == 2 and (_is_half(cast.args[1]) or last_name(cast.args[1]) == "dtype"):
        gone = Replacement(program.span(cast.args[0])[1], program.span(cast.args[1])[1], "")
        yield from _one(program, AUTOCAST, "cast", [gone], cast)


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
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"half", "to"}
        and _MODEL.search(dotted(node.func.value))
        and _mentions_half(node)
        for statement in guard.body
        for node in ast.walk(statement)
    )
    if called and _GPU.search(ast.unparse(guard.test)):
        yield from _one(program, ON_CPU, "guard", program.dedented(guard), guard)


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
