"""LLM310: a tensor that becomes an array is of bfloat16."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of

CODE = "LLM310"

_TYPED = re.compile(r"dtype|float|half\(|autocast|ccelerat|post_process|load_in|peft", re.IGNORECASE)
"""Words of programs whose tensors have a type already, or become results in a way of their own."""


def mutants(program: Program) -> Iterator[Mutant]:
    """`vectors.float().numpy()` is `vectors.numpy()`, of a model in bfloat16; or the one model is loaded in bfloat16."""
    arrays = [node for node in program.nodes if isinstance(node, ast.Call) and last_name(node.func) == "numpy"]
    loads = [node for node in program.nodes if isinstance(node, ast.Call) and _loads_model(node)]
    for call in arrays if loads and "bfloat16" in program.text else ():
        for cast in _casts_before(call):
            owner = cast.func.value if isinstance(cast.func, ast.Attribute) else cast
            gone = Replacement(program.span(owner)[1], program.span(cast)[1], "")
            yield from mutants_of(program, CODE, "cast", [gone], call, anywhere=True)
    if arrays and len(loads) == 1 and "import torch\n" in program.text and not _TYPED.search(program.text):
        narrow = program.with_argument(loads[0], "dtype=torch.bfloat16")
        yield from mutants_of(program, CODE, "load", [narrow], arrays[0], anywhere=True)


def _casts_before(call: ast.Call) -> Iterator[ast.Call]:
    """The `float()` among the methods by which a tensor comes to `numpy()`."""
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
        if isinstance(node, ast.Call) and last_name(node.func) == "float" and not node.args:
            yield node


def _loads_model(call: ast.Call) -> bool:
    return last_name(call.func) == "from_pretrained" and re.search(r"Model|For[A-Z]", dotted(call.func)) is not None
