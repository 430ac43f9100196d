"""The shapes of assigned names: the user's file is compiled with a note after each assignment.

A trace function would see the same, and would slow down every call of every library.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .containers import listed
from .describing import shape_text

NOTE = "__llm_lint_note__"
"""The name by which compiled code finds `note`; it is in `builtins` while the user's code runs."""


class Assigned(NamedTuple):
    """A name that was given a tensor in one line."""

    line: int
    name: str
    shape: str


class Assignments:
    """What the notes say, for one run."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, str], str] = {}

    def note(self, line: int, name: str, value: object) -> None:
        text = shape_text(value)
        if text is None:
            return
        before = self.seen.get((line, name))
        if before is None:
            self.seen[line, name] = text
        elif before != text and not before.endswith(" …"):
            # Another pass of a loop, another instance of the class.
            self.seen[line, name] = f"{before} …"

    def found(self) -> list[Assigned]:
        return [Assigned(line, name, shape) for (line, name), shape in sorted(self.seen.items())]


def record_assignments(tree: ast.Module) -> ast.Module:
    """The tree with a note after each assignment inside functions; everything keeps its place."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            note_in(node)
    return tree


def note_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for owner in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = listed(getattr(owner, field, None))
            if body is not None and not isinstance(owner, (ast.ClassDef, ast.Lambda)):
                statements = [each for each in body if isinstance(each, ast.stmt)]
                setattr(owner, field, [each for statement in statements for each in with_notes(statement)])


def with_notes(statement: ast.stmt) -> Iterator[ast.stmt]:
    yield statement
    if getattr(statement, "llm_lint_noted", False):
        return
    statement.llm_lint_noted = True  # type: ignore[attr-defined]
    for target in targets(statement):
        for name in names(target):
            yield note(name)


def targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
        return [statement.target]
    return []


def names(target: ast.expr) -> Iterator[ast.Name]:
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from names(each)
    elif isinstance(target, ast.Starred):
        yield from names(target.value)


def note(name: ast.Name) -> ast.stmt:
    call = ast.Call(
        ast.Name(NOTE, ast.Load()),
        [ast.Constant(name.lineno), ast.Constant(name.id), ast.Name(name.id, ast.Load())],
        [],
    )
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), name))
