"""Which names a scope binds, and how one is renamed without touching another scope's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["Function", "Scope", "bound_names", "free_names", "functions", "is_plain", "rename", "stored_names"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | Function
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Inner = Function | ast.Lambda | ast.ClassDef | _Comprehension


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function, in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, Function)]
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that belong to a scope itself, the heads of inner scopes included."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _Inner):
            yield from _own(child)


def stored_names(node: ast.AST) -> set[str]:
    """The names that a statement binds in the scope it stands in."""
    names: set[str] = set()
    nodes: list[ast.AST] = [node] if isinstance(node, _Inner) else [node, *_own(node)]
    for each in nodes:
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name.partition(".")[0])
            case _:
                pass
    return names


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All of a function's parameters."""
    args = function.args
    several = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [*several, *(each for each in (args.vararg, args.kwarg) if each is not None)]


def bound_names(scope: ast.AST) -> set[str]:
    """The names that a scope binds for itself."""
    names: set[str] = set()
    if isinstance(scope, Function | ast.Lambda):
        names.update(parameter.arg for parameter in parameters(scope))
    if isinstance(scope, ast.Lambda):
        return names
    if isinstance(scope, _Comprehension):
        return {
            node.id
            for generator in scope.generators
            for node in ast.walk(generator.target)
            if isinstance(node, ast.Name)
        }
    elsewhere: set[str] = set()
    for statement in scope.body if isinstance(scope, ast.Module | Function | ast.ClassDef) else ():
        names |= stored_names(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Global | ast.Nonlocal):
                elsewhere.update(node.names)
    return names - elsewhere


def free_names(node: ast.AST) -> set[str]:
    """The names that are read in a statement, or in what it defines, and bound outside of it or in it."""
    names: set[str] = set()
    for each in ast.iter_child_nodes(node):
        inner = free_names(each)
        names |= inner - bound_names(each) if isinstance(each, Function | ast.Lambda | _Comprehension) else inner
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        names.add(node.id)
    return names


def is_plain(scope: Scope, name: str) -> bool:
    """Whether a name means one thing in a scope and all within it, and no keyword argument is called like it."""
    for node in ast.walk(scope):
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                return False
            case ast.keyword(arg=keyword) if keyword == name:
                return False
            case ast.ExceptHandler(name=handler) if handler == name:
                return False
            case ast.alias(name=imported, asname=asname) if (asname or imported.partition(".")[0]) == name:
                return False
            case ast.ClassDef() if name in bound_names(node):
                return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if node is not scope:
                if name in bound_names(node):
                    return False
            case _:
                pass
    return True


def rename(scope: ast.AST, old: str, new: str) -> None:
    """Change a name for which `is_plain` holds, in place."""
    for node in ast.walk(scope):
        match node:
            case ast.Name() if node.id == old:
                node.id = new
            case ast.arg() if node.arg == old:
                node.arg = new
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name == old:
                node.name = new
            case _:
                pass
