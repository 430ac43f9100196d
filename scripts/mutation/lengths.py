"""LLM107: one look at the length of a text that is cut is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, last_name, mutant

CODE = "LLM107"

_OVERFLOW = frozenset({"return_overflowing_tokens", "stride"})
_LENGTH = re.compile(r"\blen\(|\.shape\b|\.size\(|attention_mask|num_tokens|n_tokens|length", re.IGNORECASE)
_OF_TOKENS = re.compile(r"input_ids|token|\bids\b|pieces|max_len", re.IGNORECASE)


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of a program that cuts texts."""
    cuts = [node for node in program.nodes if isinstance(node, ast.Call) and _cuts(node)]
    for cut in cuts:
        yield from _without_overflow(program, cut)
    places = [program.scope_rows(cut) for cut in cuts]
    for node in program.nodes if cuts else ():
        if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and not node.orelse and _speaks(node)):
            yield from _without_check(program, node, places)


def _without_check(program: Program, check: ast.Assert | ast.If, places: list[tuple[int, int]]) -> Iterator[Mutant]:
    """The check goes, and with it what was computed for it alone."""
    if not _compares(check.test):
        return
    needed = [
        statement
        for statement in ast.walk(program.function_of(check) or program.tree)
        if isinstance(statement, ast.Assign) and _is_only_for(program, statement, check)
    ]
    computed = " ".join(ast.unparse(each) for each in (check.test, *needed))
    if not _LENGTH.search(computed) or not _OF_TOKENS.search(computed):
        return
    replacements = [program.blanked(each, "pass") for each in (check, *needed)]
    found = mutant(program, CODE, type(check).__name__.lower(), replacements, program.rows(check), places)
    if found is not None:
        yield found


def _is_only_for(program: Program, statement: ast.Assign, check: ast.stmt) -> bool:
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    scope = program.function_of(check) or program.tree
    uses = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
    ]
    return len(names) == len(statement.targets) and bool(uses) and all(check in program.ancestors(use) for use in uses)


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
    replacements += [
        program.blanked(statement, "pass")
        for statement in ast.walk(program.function_of(cut) or program.tree)
        if isinstance(statement, ast.Expr) and "overflow_to_sample_mapping" in ast.unparse(statement)
    ]
    found = mutant(program, CODE, "overflow", replacements, program.rows(cut))
    if found is not None:
        yield found


def _compares(test: ast.expr) -> bool:
    return any(
        isinstance(operator, ast.Gt | ast.GtE | ast.Lt | ast.LtE) and not _is_small(limit)
        for node in ast.walk(test)
        if isinstance(node, ast.Compare)
        for operator, limit in zip(node.ops, node.comparators, strict=True)
    )


def _is_small(limit: ast.expr) -> bool:
    """Whether this is a number that no limit of tokens is."""
    return isinstance(limit, ast.Constant) and isinstance(limit.value, int) and limit.value < 16


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
