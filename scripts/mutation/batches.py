"""LLM404: what makes one batch of several is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, mutants_of

UNDIVIDED = "LLM404"

_COUNT = re.compile(r"accum|micro", re.IGNORECASE)


def mutants_undivided(program: Program) -> Iterator[Mutant]:
    """`loss / accumulation_steps` is `loss`."""
    if ".backward(" not in program.text or "Trainer(" in program.text:
        return
    for node in program.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _COUNT.search(ast.unparse(node.right)):
            if "loss" in ast.unparse(program.statement_of(node)):
                change = [Replacement(program.span(node.left)[1], program.span(node)[1], "")]
                yield from mutants_of(program, UNDIVIDED, "division", change, node)
        elif (
            isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div) and _COUNT.search(ast.unparse(node.value))
        ):
            yield from mutants_of(program, UNDIVIDED, "division", [program.blanked(node, "pass")], node)
