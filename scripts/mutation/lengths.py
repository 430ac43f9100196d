"""LLM107: one look at the length of a text that is cut is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, last_name, mutant

CODE = "LLM107"

_OVERFLOW = frozenset({"return_overflowing_tokens", "stride"})
_LENGTH = re.compile(r"\blen\(|\.shape\b|\.size\(|attention_mask|num_tokens|n_tokens|length", re.IGNORECASE)


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of a program that cuts texts."""
    cuts = [node for node in ast.walk(program.tree) if isinstance(node, ast.Call) and _cuts(node)]
    for cut in cuts:
        yield from _without_overflow(program, cut)
    if not cuts:
        return
    places = [program.scope_rows(cut) for cut in cuts]
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assert | ast.If) and _compares_length(node.test):
            if isinstance(node, ast.If) and (node.orelse or not _speaks(node)):
                continue
            replacements = [program.blanked(node, "pass")]
        elif isinstance(node, ast.Call) and last_name(node.func) == "filter" and isinstance(node.func, ast.Attribute):
            if not any(_compares_length(argument) for argument in node.args):
                continue
            replacements = [Replacement(program.span(node.func.value)[1], program.span(node)[1], "")]
        else:
            continue
        found = mutant(program, CODE, type(node).__name__.lower(), replacements, program.rows(node), places)
        if found is not None:
            yield found


def _cuts(call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "truncation" and isinstance(keyword.value, ast.Constant):
            return keyword.value.value not in {False, None, "do_not_truncate"}
    return False


def _without_overflow(program: Program, cut: ast.Call) -> Iterator[Mutant]:
    overflow = [keyword for keyword in cut.keywords if keyword.arg in _OVERFLOW]
    if not any(keyword.arg == "return_overflowing_tokens" for keyword in overflow):
        return
    replacements: list[Replacement] = []
    for keyword in overflow:
        start = program.offset(keyword.lineno, keyword.col_offset)
        end = program.span(keyword.value)[1]
        comma = re.compile(r"\s*,").match(program.text, end)
        replacements.append(Replacement(start, comma.end() if comma else end, ""))
    found = mutant(program, CODE, "overflow", replacements, program.rows(cut))
    if found is not None:
        yield found


def _compares_length(test: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Compare)
        and any(isinstance(operator, ast.Gt | ast.GtE | ast.Lt | ast.LtE) for operator in node.ops)
        and _LENGTH.search(ast.unparse(node)) is not None
        for node in ast.walk(test)
    )


def _speaks(block: ast.If) -> bool:
    """Whether the block refuses or reports, which is what makes it a check."""
    return any(
        isinstance(node, ast.Raise | ast.Return | ast.Continue)
        or (
            isinstance(node, ast.Call) and last_name(node.func) in {"print", "warn", "warning", "info", "error", "exit"}
        )
        for statement in block.body
        for node in ast.walk(statement)
    )
