"""The modules that a file defines, and which of them makes which."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torch import nn

from .importing import UserModule


class ModuleClass(NamedTuple):
    """A class of the file that is an `nn.Module`."""

    name: str
    made: type[nn.Module]
    node: ast.ClassDef

    def method(self, name: str) -> ast.FunctionDef | None:
        return next((each for each in self.node.body if isinstance(each, ast.FunctionDef) and each.name == name), None)


def module_classes(user: UserModule) -> dict[str, ModuleClass]:
    """The modules of the file's top level that have a `forward` of their own or inherit one."""
    found: dict[str, ModuleClass] = {}
    for node in top_level_classes(user.tree.body):
        made = user.namespace.get(node.name)
        if isinstance(made, type) and issubclass(made, nn.Module) and made.__module__ == user.name:
            found[node.name] = ModuleClass(node.name, made, node)
    return found


def top_level_classes(body: list[ast.stmt]) -> list[ast.ClassDef]:
    """Also those inside of `if` and `try`."""
    found: list[ast.ClassDef] = []
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            found.append(statement)
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            found += top_level_classes(statement.body)
            found += top_level_classes(getattr(statement, "orelse", []))
            for handler in getattr(statement, "handlers", []):
                found += top_level_classes(handler.body)
    return found


def makers(classes: dict[str, ModuleClass]) -> dict[str, set[str]]:
    """For each class the classes of the file that mention it in their bodies (call it, or hand it on)."""
    found: dict[str, set[str]] = {name: set() for name in classes}
    for owner, each in classes.items():
        for node in ast.walk(each.node):
            if isinstance(node, ast.Name) and node.id in found and node.id != owner and isinstance(node.ctx, ast.Load):
                found[node.id].add(owner)
        for base in each.node.bases:
            if isinstance(base, ast.Name) and base.id in found:
                found[base.id].discard(owner)
    return found


def by_distance(name: str, made_by: dict[str, set[str]]) -> list[str]:
    """The classes that hold `name`, directly or not: those furthest away first."""
    order, seen = [name], {name}
    for each in order:
        for owner in sorted(made_by.get(each, ())):
            if owner not in seen:
                seen.add(owner)
                order.append(owner)
    return order[:0:-1]


def text_of(name: str, classes: dict[str, ModuleClass], text: str) -> str:
    """The text of a class and of all classes of the file that it makes."""
    made_by = makers(classes)
    parts, seen = [name], {name}
    for each in parts:
        for other, owners in made_by.items():
            if each in owners and other not in seen:
                seen.add(other)
                parts.append(other)
    return "\n".join(ast.get_source_segment(text, classes[each].node) or "" for each in parts)


def roots_first(classes: dict[str, ModuleClass]) -> list[str]:
    """Classes that no other makes, then the rest; both in the order of the file."""
    made_by = makers(classes)
    return sorted(classes, key=lambda name: bool(made_by[name]))
