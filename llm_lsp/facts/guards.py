"""Tests that decide whether something is done, and what they are about."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.source import Source

__all__ = ["assigned_tests", "compared_with", "mention"]

_DEEPEST = 2


def mention(facts: Facts, tests: Iterable[ast.expr], words: tuple[str, ...]) -> bool:
    """Whether one of the tests contains one of the words, itself or in the test that its name stands for.

    After `half = half and device != "cpu"`, the test of `if half:` is about the device.
    """
    pending = list(tests)
    for _ in range(_DEEPEST + 1):
        texts = [facts.text_of(test).lower() for test in pending]
        if any(word in text for text in texts for word in words):
            return True
        names = {name for test in pending for node in ast.walk(test) if (name := _name(node)) is not None}
        pending = [test for name in names for test in facts.assigned_tests.get(name, ())]
        if not pending:
            return False
    return False


def assigned_tests(source: Source) -> dict[str, list[ast.expr]]:
    """The tests that the module's variables and attributes are assigned, by name."""
    found: dict[str, list[ast.expr]] = {}
    for node in source.statements:
        if isinstance(node, ast.Assign) and _is_test(node.value):
            for target in node.targets:
                name = _name(target)
                if name is not None:
                    found.setdefault(name, []).append(node.value)
    return found


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _is_test(value: ast.expr) -> bool:
    if isinstance(value, (ast.Compare, ast.BoolOp)):
        return True
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not)
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "is_available"


def compared_with(test: ast.expr, name: ast.expr) -> ast.Constant | None:
    """The constant in `phase == "val"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    other = test.comparators[0]
    is_it = isinstance(test.left, ast.Name) and isinstance(name, ast.Name) and test.left.id == name.id
    return other if is_it and isinstance(other, ast.Constant) else None
