"""LLM119: a model is moved to another device, and what a tokenizer makes is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Function, Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.tokenizations import assigned, loaded_models

CODE = "LLM119"

_MOVES = frozenset({"to", "cuda"})
_IS_PLACED = re.compile(r"device_map|ccelerat|hf_quantizer|quantization_config|load_in_|DataParallel|Trainer\(")
"""Words of programs in which something else moves the model, and its inputs."""
_IS_TYPE = re.compile(r"dtype|float|half")
_ACCELERATOR = re.compile(r"cuda|['\"](?:mps|xpu|npu)")
_TOKENIZER = re.compile(r"tok(?:enizer)?$", re.IGNORECASE)


def mutants(program: Program) -> Iterator[Mutant]:
    """`tokenizer(text, ...).to(device)` loses its move; or the model of a program that moves nothing is moved.

    Only where the program loads the model, and no other library places it; and not where no accelerator is written.
    """
    if _IS_PLACED.search(program.text) or "return_tensors" not in program.text:
        return
    moves = [node for node in program.nodes if _is_move(node)]
    loaded = {name for name, _ in loaded_models(program)}
    is_moved = any(_of_model(move, loaded) for move in moves)
    for move in moves if is_moved and _ACCELERATOR.search(program.text) else ():
        tokenized = move.func.value if isinstance(move, ast.Call) and isinstance(move.func, ast.Attribute) else None
        if isinstance(tokenized, ast.Call) and _tokenizes(tokenized) and isinstance(move, ast.Call):
            gone = Replacement(program.span(tokenized)[1], program.span(move)[1], "")
            yield from mutants_of(program, CODE, "inputs", [gone], move, anywhere=True)
    if not moves and "device" not in program.text:
        yield from _with_moved_model(program)


def _with_moved_model(program: Program) -> Iterator[Mutant]:
    """`AutoModel.from_pretrained(name)` is moved to the GPU; only where it is called with what a tokenizer gave."""
    encodings = {
        (program.function_of(statement), assigned(statement, statement.value))
        for statement in program.nodes
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and _tokenizes(statement.value)
        and "return_tensors" in ast.unparse(statement.value)
        and not _is_extended(program, assigned(statement, statement.value))
    }
    for load in program.nodes:
        if not isinstance(load, ast.Call) or last_name(load.func) != "from_pretrained":
            continue
        name = assigned(program.statement_of(load), load)
        if name in {model for model, _ in loaded_models(program)} and _is_given(program, name, encodings):
            end = program.span(load)[1]
            change = Replacement(end, end, '.to("cuda")')
            yield from mutants_of(program, CODE, "model", [change], load, anywhere=True)


def _is_given(program: Program, model: str, encodings: set[tuple[Function | None, str]]) -> bool:
    """Whether a model is called, or continues, with an encoding."""
    return any(
        isinstance(node, ast.Call)
        and dotted(node.func) in {model, f"{model}.generate"}
        and any(
            word.arg is None and (program.function_of(node), dotted(word.value)) in encodings for word in node.keywords
        )
        for node in program.nodes
    )


def _is_extended(program: Program, encoding: str) -> bool:
    """Whether something is put into an encoding, which need not be on the CPU."""
    return re.search(rf"\b{encoding}\[[^\]]*\] = ", program.text) is not None


def _tokenizes(call: ast.Call) -> bool:
    return _TOKENIZER.search(last_name(call.func)) is not None


def _is_move(node: ast.AST) -> bool:
    is_move = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES
    return is_move and _IS_TYPE.search(ast.unparse(node)) is None


def _of_model(move: ast.AST, loaded: set[str]) -> bool:
    """Whether what is moved is a model, right after its load or by its name."""
    owner = move.func.value if isinstance(move, ast.Call) and isinstance(move.func, ast.Attribute) else None
    if isinstance(owner, ast.Call):
        return "from_pretrained" in ast.unparse(owner) and "Tokenizer" not in ast.unparse(owner)
    return owner is not None and last_name(owner) in loaded
