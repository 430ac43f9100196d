"""A script without its doings: what it defines, where importing all of it fails for want of a file or a connection."""

from __future__ import annotations

import ast
import types

from .assigned import record_assignments
from .sizes import role_of

DEFINES = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
    ast.Try,
)


def run_definitions(tree: ast.Module, module: types.ModuleType, path: str) -> dict[str, object]:
    """Runs the imports, definitions and assignments of a file, one by one; those that fail are left out.

    Returns:
        The names that got a value from what they are called, since their own assignment failed.
    """
    guessed: dict[str, object] = {}
    for statement in record_assignments(tree).body:
        if not isinstance(statement, DEFINES):
            continue
        try:
            exec(compile(ast.Module([statement], []), path, "exec", dont_inherit=True), vars(module))  # noqa: S102
        except Exception:  # noqa: BLE001  whatever is missing because something else was left out
            for name in assigned_names(statement):
                role = role_of(name)
                if role is not None and name not in vars(module):
                    guessed[name] = role.product
                    setattr(module, name, role.product)
    return guessed


def assigned_names(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
