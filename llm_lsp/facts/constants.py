"""What operators make of constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from llm_lsp.facts.values import (
    Class,
    Condition,
    Constant,
    Function,
    Object,
    Symbol,
    Tuple,
    Value,
    one_of,
    options,
)

__all__ = [
    "asks_for_width",
    "compare",
    "compute",
    "compute_options",
    "number_of",
    "part_of_text",
    "text_of_parts",
    "with_part",
]

_LONGEST_PATTERN = 1_000
_LONGEST_TEXT = 100_000
_LARGEST_NUMBER = 2**64
_LONGEST_SPECIFICATION = 4
"""Characters of a format specification: `:>999999999` asks for a gigabyte."""
_WIDTH = re.compile(r"\d{4}|\*")
_MOST_ALTERNATIVES = 4
_ASKS_AGAIN = (ast.Name, ast.Attribute, ast.Compare)

Alternatives = list[tuple[str, tuple[Condition, ...], bool]]
"""The texts that an f-string may come to, each with its conditions, and whether somebody may replace a part of it."""


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
        return _text(operator, first, second, may=may)
    if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
        return None
    if abs(first) > _LARGEST_NUMBER or abs(second) > _LARGEST_NUMBER:
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


def _text(operator: ast.operator, first: str, second: object, *, may: bool) -> Constant | None:
    if isinstance(operator, ast.Mod) and isinstance(second, (str, int)):
        return _format(first, (second,), may=may)
    if isinstance(operator, ast.Mult) and isinstance(second, int) and len(first) * second < _LONGEST_PATTERN:
        return Constant(first * second, may=may)
    if not isinstance(second, str) or not isinstance(operator, (ast.Add, ast.Div)):
        return None
    if len(first) + len(second) > _LONGEST_TEXT:
        return None
    return Constant(first + second if isinstance(operator, ast.Add) else f"{first}/{second}", may=may)


def asks_for_width(pattern: str) -> bool:
    """Whether a pattern may ask for a text that is much longer than itself."""
    return len(pattern) > _LONGEST_PATTERN or _WIDTH.search(pattern) is not None


def _format(pattern: str, values: tuple[object, ...], *, may: bool) -> Constant | None:
    if asks_for_width(pattern):
        return None
    try:
        return Constant(pattern % values, may=may)
    except (TypeError, ValueError):
        return None


def compute_options(operator: ast.operator, left: Value, right: Value) -> Value | None:
    """What an operator makes of two values of which each may be one of several constants."""
    made: list[tuple[Value, tuple[Condition, ...]]] = []
    for first, conditions in options(left):
        for second, others in options(right):
            if not isinstance(first, Constant) or not isinstance(second, (Constant, Tuple)):
                return None
            if _contradict(conditions, others):
                continue
            computed = compute(operator, first, second)
            if computed is None or len(made) == _MOST_ALTERNATIVES:
                return None
            made.append((computed, conditions + others))
    return one_of(made) if made else None


def _contradict(one: tuple[Condition, ...], other: tuple[Condition, ...]) -> bool:
    """Whether a test came out one way for the one value and the other way for the other; plain names ask the same again."""
    if not one or not other:
        return False
    if any((test, not came_out) in other for test, came_out in one):
        return True
    known = {ast.dump(test): came_out for test, came_out in one if isinstance(test, _ASKS_AGAIN)}
    return any(known.get(ast.dump(test), came_out) is not came_out for test, came_out in other)


def with_part(begun: Alternatives, part: ast.expr, value: Value) -> Alternatives | None:
    """An f-string that goes on with `value`; None where that is not known."""
    longer: Alternatives = []
    for option, conditions in options(value):
        text = _formatted(option, part)
        if text is None or not isinstance(option, Constant):
            return None
        longer += [
            (before + text, why + conditions, may or option.may)
            for before, why, may in begun
            if not _contradict(why, conditions)
        ]
    is_short = all(len(text) <= _LONGEST_TEXT for text, _, _ in longer)
    return longer if is_short and len(longer) <= _MOST_ALTERNATIVES else None


def text_of_parts(made: Alternatives, node: ast.expr) -> Value:
    """The value of a whole f-string."""
    if len(made) == 1:
        return Constant(made[0][0], node, may=made[0][2])
    return one_of((Constant(text, node, may=may), why) for text, why, may in made)


_CONVERSIONS: dict[int, Callable[[object], str]] = {-1: str, ord("s"): str, ord("r"): repr, ord("a"): ascii}


def _formatted(value: Value, part: ast.expr) -> str | None:
    if not isinstance(value, Constant) or not isinstance(value.value, (str, int, float)):
        return None
    if not isinstance(part, ast.FormattedValue):
        return str(value.value)
    shown = value.value if part.conversion == -1 else _CONVERSIONS[part.conversion](value.value)
    if part.format_spec is None:
        return str(shown)
    spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
    asked = str(spec[0].value) if len(spec) == 1 and isinstance(spec[0], ast.Constant) else ""
    if not asked.strip("<>^0+.").isalnum() or len(asked) > _LONGEST_SPECIFICATION:
        return None
    try:
        text = format(shown, asked)
    except (TypeError, ValueError):
        return None
    return text if len(text) < _LONGEST_PATTERN else None


def part_of_text(text: Value, bounds: list[Value | None]) -> Constant | None:
    """A slice of a written text."""
    if not isinstance(text, Constant) or not isinstance(text.value, str):
        return None
    ends: list[int | None] = []
    for bound in bounds:
        known = bound.value if isinstance(bound, Constant) else None
        if bound is not None and not isinstance(known, int):
            return None
        ends.append(known if isinstance(known, int) else None)
    if ends[2] == 0:
        return None
    may = text.may or any(isinstance(bound, Constant) and bound.may for bound in bounds)
    return Constant(text.value[slice(*ends)], text.node, may=may)


def number_of(value: Value, kind: Callable[[str], object]) -> Constant | None:
    """`int("2")`, `float("1e-5")`."""
    if not isinstance(value, Constant) or not isinstance(value.value, (str, int, float)):
        return None
    try:
        return Constant(
            kind(str(value.value)) if isinstance(value.value, str) else value.value, value.node, may=value.may
        )
    except ValueError:
        return None
