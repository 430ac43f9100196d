"""LLM905: a breakpoint was left in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, last_name, mutants_of

CODE = "LLM905"

_USES_MODELS = re.compile(r"^(?:from|import) (?:torch|transformers|accelerate|peft|datasets)\b", re.MULTILINE)
_ASKED_FOR = re.compile(r"debug|interactive|isatty|test_", re.IGNORECASE)
_SAYS = frozenset({"print", "info", "warning", "warn"})


def mutants(program: Program) -> Iterator[Mutant]:
    """A comment of its own becomes `breakpoint()`, what is printed or logged becomes `pdb.set_trace()`; one of each.

    Not where the program, or a function by its name, is there for somebody who looks for faults.
    """
    if _USES_MODELS.search(program.text) is None:
        return
    inside = [node for node in program.nodes if isinstance(node, ast.stmt) and _is_run(program, node)]
    for statement in inside:
        comment = _comment_above(program, statement)
        if comment is not None:
            yield from mutants_of(program, CODE, "comment", [comment], statement)
            break
    for statement in inside:
        if _is_said(statement):
            change = program.blanked(statement, "import pdb; pdb.set_trace()")
            yield from mutants_of(program, CODE, "print", [change], statement)
            break


def _is_run(program: Program, statement: ast.stmt) -> bool:
    """Whether a statement stands in a function that nobody calls for a debugger."""
    around = [each for each in program.ancestors(statement) if isinstance(each, ast.If | ast.FunctionDef)]
    words = [each.name if isinstance(each, ast.FunctionDef) else ast.unparse(each.test) for each in around]
    in_function = any(isinstance(each, ast.FunctionDef) for each in around)
    return in_function and not any(_ASKED_FOR.search(word) for word in words)


def _comment_above(program: Program, statement: ast.stmt) -> Replacement | None:
    """The comment on the row above a statement, at its own depth."""
    first = program.rows(statement)[0]
    start = program.offset(first, 0)
    row = program.text[:start].rpartition("\n")[0].rpartition("\n")[2]
    indent = row[: len(row) - len(row.lstrip())]
    if not row.lstrip().startswith("#") or len(indent) != statement.col_offset:
        return None
    return Replacement(start - 1 - len(row), start - 1, f"{indent}breakpoint()")


def _is_said(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_name(call.func) in _SAYS
