"""What operators make of constants."""

from __future__ import annotations

import ast

from llm_lsp.facts.values import Class, Constant, Function, Object, Symbol, Tuple, Value

__all__ = ["compare", "compute"]

_LONGEST_PATTERN = 1_000


def compare(operator: ast.cmpop, left: Value, right: Value) -> Constant | None:
    """How a comparison certainly comes out."""
    if isinstance(operator, (ast.Is, ast.IsNot)) and isinstance(right, Constant) and right.value is None:
        if isinstance(left, Constant) and not left.may:
            is_none = left.value is None
        elif isinstance(left, (Function, Class, Tuple, Symbol)) or (isinstance(left, Object) and not left.is_outside):
            is_none = False
        else:
            return None
        return Constant(is_none is isinstance(operator, ast.Is))
    if not isinstance(left, Constant) or not isinstance(right, Constant) or left.may or right.may:
        return None
    if isinstance(operator, (ast.Eq, ast.NotEq)) and isinstance(left.value, (str, int, bool)):
        return Constant((left.value == right.value) is isinstance(operator, ast.Eq))
    return None


def compute(operator: ast.operator, left: Constant, right: Constant | Tuple) -> Constant | None:
    may = left.may or (isinstance(right, Constant) and right.may)
    first = left.value
    if isinstance(right, Tuple):
        items = right.items
        if (
            isinstance(operator, ast.Mod)
            and isinstance(first, str)
            and all(isinstance(item, Constant) for item in items)
        ):
            return _format(first, tuple(item.value for item in items if isinstance(item, Constant)), may=True)
        return None
    second = right.value
    if isinstance(first, str):
        if isinstance(operator, ast.Add) and isinstance(second, str):
            return Constant(first + second, may=may)
        if isinstance(operator, ast.Mod) and isinstance(second, (str, int)):
            return _format(first, (second,), may=may)
        if isinstance(operator, ast.Div) and isinstance(second, str):
            return Constant(f"{first}/{second}", may=may)
        return None
    if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
        return None
    if isinstance(operator, ast.Add):
        return Constant(first + second, may=may)
    if isinstance(operator, ast.Sub):
        return Constant(first - second, may=may)
    if isinstance(operator, ast.Mult):
        return Constant(first * second, may=may)
    if isinstance(operator, (ast.FloorDiv, ast.Div)) and second:
        return Constant(first // second if isinstance(operator, ast.FloorDiv) else first / second, may=may)
    return None


def _format(pattern: str, values: tuple[object, ...], *, may: bool) -> Constant | None:
    if len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        return Constant(pattern % values, may=may)
    except (TypeError, ValueError):
        return None
