"""How a module writes what it does: where arguments stand, what names mean, what results are assigned to."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from llm_lsp.facts.values import Symbol
from llm_lsp.parsing import python_tree

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.views import Call
    from llm_lsp.source import Source

__all__ = ["is_visible", "names_of_libraries", "names_of_results", "places_of_argument", "spelled", "target_of"]


def places_of_argument(
    facts: Facts, node: ast.AST, name: str, position: int | None
) -> tuple[Place | None, Place | None]:
    """Where an argument stands in the call, with its keyword and without."""
    if not isinstance(node, ast.Call):
        return None, None
    for keyword in node.keywords:
        if keyword.arg == name:
            return facts.place(keyword), facts.place(keyword.value)
    if position is not None and position < len(node.args) and not any(isinstance(a, ast.Starred) for a in node.args):
        found = facts.place(node.args[position])
        return found, found
    return None, None


def is_visible(facts: Facts, place: Place, there: Call, here: Call) -> bool:
    """Whether the expression at `place`, evaluated at the call `there`, means the same at the call `here`."""
    if there.record.frame is not here.record.frame:
        return False
    row = here.place.range.start.row
    # In brackets, since it may go on over several lines, and end in a comment.
    expression = python_tree(f"({place.text}\n)")
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    if any(isinstance(node, (ast.Call, ast.Subscript)) for node in ast.walk(expression)):
        return False
    frame = here.record.frame
    function = frame.function.node if frame.function is not None else facts.source.tree
    bound = {
        node.id: node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    module = facts.machine.frames[0].locals
    return all(bound[name] < row if name in bound else name in parameters or name in module for name in names)


def names_of_libraries(facts: Facts) -> dict[str, str]:
    """The module's own names of what it imports from libraries, the first one of each, once everything has run."""
    _ = facts.records
    bound = reversed(facts.machine.frames[0].locals.items())
    return {value.name: str(local) for local, value in bound if isinstance(value, Symbol)}


def spelled(own: Mapping[str, str], name: str) -> str:
    """How a module that has its `own` names of libraries' things writes a qualified name."""
    owner, rest = name, ""
    while owner not in own and "." in owner:
        owner, _, last = owner.rpartition(".")
        rest = f".{last}{rest}"
    return own.get(owner, owner) + rest


def names_of_results(source: Source) -> dict[ast.AST, str]:
    """Calls to the variables that their results are assigned to by a statement of its own."""
    found: dict[ast.AST, str] = {}
    for node in source.statements:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            found[value] = node.targets[0].id
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
                found[value.func.value] = node.targets[0].id
    return found


def target_of(facts: Facts, node: ast.AST) -> str | None:
    """The variable or attribute that a statement assigns the expression to, as it is written."""
    for statement in facts.source.statements:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is node:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            is_plain = isinstance(target, (ast.Name, ast.Attribute))
            return facts.text_of(target) if is_plain else None
    return None
