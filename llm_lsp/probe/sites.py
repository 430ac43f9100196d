"""What is run for a function that builds a model: the class it makes, or the library's model that it loads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["target_in_function"]

_LIBRARY_CLASS = re.compile(r"AutoModel\w*|\w+(?:Model|For[A-Z]\w+|LMHeadModel)\Z")
_LOADS = ("from_pretrained", "from_config")


def target_in_function(text: str, name: str) -> str | dict[str, object] | None:
    """The target of a request, by syntax alone.

    Args:
        text: the file.
        name: of a function in it.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name == name:
            return next(_targets(function, classes), None)
    return None


def _targets(function: ast.AST, classes: set[str]) -> Iterator[str | dict[str, object]]:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=method),
                args=[ast.Constant(value=str(checkpoint)), *_],
            ) if method in _LOADS and _LIBRARY_CLASS.match(owner):
                yield {"checkpoint": checkpoint, "class": owner, "line": call.lineno}
            case ast.Call(func=ast.Name(id=made)) if made in classes:
                yield made
            case _:
                pass
