"""The loads of tokenizers and models by an id that the program writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from scripts.mutation.edits import Program, dotted

__all__ = ["Load", "loads_of"]

_CLASS = re.compile(r"(?P<prefix>[A-Z][A-Za-z0-9]*?)(?P<what>Tokenizer(?:Fast)?|(?:LMHead)?Model\w*|For[A-Z]\w*)")


class Load(NamedTuple):
    """One `from_pretrained`."""

    call: ast.Call
    argument: ast.expr
    """The id, as it is written."""
    checkpoint: str
    class_name: str
    prefix: str
    """What the class's name begins with: `Auto`, `Bert`."""
    is_tokenizer: bool
    scope: ast.AST
    """The function that loads it, or the module."""


def loads_of(program: Program) -> Iterator[Load]:
    """Every load by an id that is known."""
    constants = _constants(program)
    for node in program.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name = dotted(node.func.value).rpartition(".")[2]
        match = _CLASS.fullmatch(name)
        argument = _id_argument(node)
        if node.func.attr != "from_pretrained" or match is None or argument is None:
            continue
        checkpoint = _value(argument, constants)
        if checkpoint is not None:
            scope = program.function_of(node) or program.tree
            is_tokenizer = match["what"].startswith("Tokenizer")
            yield Load(node, argument, checkpoint, name, match["prefix"], is_tokenizer, scope)


def _id_argument(call: ast.Call) -> ast.expr | None:
    if call.args:
        return call.args[0]
    named = (keyword.value for keyword in call.keywords if keyword.arg == "pretrained_model_name_or_path")
    return next(named, None)


def _constants(program: Program) -> dict[str, str]:
    """The names that are bound once in the whole file, to a text."""
    values: dict[str, str] = {}
    bound: dict[str, int] = {}
    for node in program.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 1
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            values.update({target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)})
    return {name: value for name, value in values.items() if bound[name] == 1}


def _value(argument: ast.expr, constants: dict[str, str]) -> str | None:
    if isinstance(argument, ast.Constant):
        return argument.value if isinstance(argument.value, str) else None
    return constants.get(argument.id) if isinstance(argument, ast.Name) else None
