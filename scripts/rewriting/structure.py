"""Rewrites that move code: into a function, into a class, under a guard."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import cast

from scripts.rewriting.names import Rewrite, statement_is_future
from scripts.rewriting.scopes import Function, bound_names, free_names, is_plain, stored_names

__all__ = ["extracted", "guarded", "moved_into_class", "moved_into_instance", "unguarded"]

_STAYS = (
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.NamedExpr,
)
_HARMLESS_DECORATORS = ("no_grad", "inference_mode", "contextmanager", "cache")


# ---------------------------------------------------------------- a statement into a function


def extracted(tree: ast.Module, rows: Sequence[int]) -> Rewrite:
    """A statement that one of the rows lies in, or a block around it, is a function that is called there."""
    for path in _paths(tree, []):
        statement = _at(tree, path)
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if not any(first <= row <= last for row in rows) or not _can_move(statement):
            continue
        changed = _with_function(tree, path)
        if changed is not None:
            yield f"line {first}, {type(statement).__name__.lower()}", ast.fix_missing_locations(changed)


_Path = list[tuple[str, int]]
"""The way from the module to a statement: fields and positions."""


def _paths(node: ast.Module | ast.stmt | ast.ExceptHandler, before: _Path) -> Iterator[_Path]:
    for field in ("body", "orelse", "finalbody", "handlers"):
        block: list[ast.stmt | ast.ExceptHandler] = getattr(node, field, [])
        for number, child in enumerate(block):
            path = [*before, (field, number)]
            if isinstance(child, ast.stmt):
                yield path
            yield from _paths(child, path)


def _at(tree: ast.AST, path: _Path) -> ast.stmt:
    node = tree
    for field, number in path:
        node = getattr(node, field)[number]
    return cast("ast.stmt", node)


def _can_move(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
        return False
    if any(isinstance(node, _STAYS) or _is_super(node) for node in ast.walk(statement)):
        return False
    return not _leaves_a_loop(statement)


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"super", "locals", "globals", "__class__"}


def _leaves_a_loop(node: ast.AST) -> bool:
    if isinstance(node, ast.Break | ast.Continue):
        return True
    if isinstance(node, ast.For | ast.While):
        return any(_leaves_a_loop(child) for child in node.orelse)
    return any(_leaves_a_loop(child) for child in ast.iter_child_nodes(node))


def _with_function(tree: ast.Module, path: _Path) -> ast.Module | None:
    changed = copy.deepcopy(tree)
    statement = _at(changed, path)
    scopes = [
        node
        for node in (_at(changed, path[:length]) for length in range(1, len(path)))
        if isinstance(node, Function | ast.ClassDef)
    ]
    around = scopes[-1] if scopes else changed
    if isinstance(around, ast.ClassDef):
        return None
    stored = stored_names(statement)
    outer = {name for node in ast.walk(around) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    if outer & stored:
        return None
    if any(name in stored for node in scopes[:-1] for name in bound_names(node)) or _names_in(changed, "extracted"):
        return None
    read = free_names(statement) | _augmented(statement)
    enclosing = {name for node in scopes[:-1] if isinstance(node, Function) for name in bound_names(node)}
    local = stored if around is changed else bound_names(around)
    inputs = sorted(read & (enclosing | (local & _bound_before(around, statement, stored))))
    outputs = sorted(name for name in stored if _is_read_outside(around, statement, name))
    if any(name not in inputs for name in outputs) and not isinstance(statement, ast.Assign | ast.AnnAssign):
        return None
    if read & stored - set(inputs) and isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        return None
    result: list[ast.stmt] = [ast.Return(_tuple(outputs, ast.Load()))] if outputs else []
    body = [copy.deepcopy(statement), *result]
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in inputs], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    new = _function("extracted", body)
    new.args = arguments
    call = ast.Call(ast.Name("extracted", ast.Load()), [ast.Name(name, ast.Load()) for name in inputs], [])
    replaced: ast.stmt = ast.Assign([_tuple(outputs, ast.Store())], call) if outputs else ast.Expr(call)
    parent = _at(changed, path[:-1]) if path[:-1] else changed
    field, number = path[-1]
    getattr(parent, field)[number] = replaced
    changed.body.insert(path[0][1], new)
    return changed


def _function(name: str, body: list[ast.stmt]) -> ast.FunctionDef:
    function = cast("ast.FunctionDef", ast.parse(f"def {name}(): pass").body[0])
    function.body = body
    return function


def _names_in(tree: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))


def _augmented(statement: ast.stmt) -> set[str]:
    return {
        node.target.id
        for node in ast.walk(statement)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }


def _bound_before(around: Function | ast.Module, statement: ast.stmt, stored: set[str]) -> set[str]:
    """The names that something else than the statement may have bound when it runs."""
    inside = set(ast.walk(statement))
    names = bound_names(around) - stored
    if isinstance(around, Function):
        names |= {argument.arg for argument in ast.walk(around.args) if isinstance(argument, ast.arg)}
    for node in ast.walk(around):
        if node not in inside and isinstance(node, ast.stmt) and node.lineno < statement.lineno:
            names |= stored_names(node) if not isinstance(node, Function | ast.ClassDef) else {node.name}
    return names


def _is_read_outside(around: ast.AST, statement: ast.stmt, name: str) -> bool:
    inside = set(ast.walk(statement))
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node not in inside
        for node in ast.walk(around)
    )


def _tuple(names: Sequence[str], context: ast.expr_context) -> ast.expr:
    several: list[ast.expr] = [ast.Name(name, context) for name in names]
    return several[0] if len(several) == 1 else ast.Tuple(several, context)


# ---------------------------------------------------------------- a function into a class


def moved_into_class(tree: ast.Module) -> Rewrite:
    """A function at the top of the module is a static method."""
    for position, function in _movable(tree):
        changed = copy.deepcopy(tree)
        moved = cast("Function", changed.body[position])
        moved.decorator_list.insert(0, ast.Name("staticmethod", ast.Load()))
        yield function.name, _into(changed, position, moved, "Holder", None)


def moved_into_instance(tree: ast.Module) -> Rewrite:
    """A function at the top of the module is a method of an object at the top of the module."""
    for position, function in _movable(tree):
        changed = copy.deepcopy(tree)
        moved = cast("Function", changed.body[position])
        moved.args.args.insert(0, ast.arg("self"))
        yield function.name, _into(changed, position, moved, "holder", ast.parse("holder = Holder()").body[0])


def _movable(tree: ast.Module) -> Iterator[tuple[int, Function]]:
    for position, node in enumerate(tree.body):
        if not isinstance(node, Function) or not is_plain(tree, node.name):
            continue
        harmless = all(
            any(word in ast.unparse(decorator) for word in _HARMLESS_DECORATORS) for decorator in node.decorator_list
        )
        if harmless and not node.args.posonlyargs:
            yield position, node


def _into(tree: ast.Module, position: int, function: Function, owner: str, after: ast.stmt | None) -> ast.Module:
    holder = cast("ast.ClassDef", ast.parse("class Holder: pass").body[0])
    holder.body = [function]
    tree.body[position : position + 1] = [holder, *([] if after is None else [after])]
    name = function.name

    class Owned(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            is_it = node.id == name and isinstance(node.ctx, ast.Load)
            return ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Load()) if is_it else node

    return ast.fix_missing_locations(cast("ast.Module", Owned().visit(tree)))


# ---------------------------------------------------------------- the guard


def guarded(tree: ast.Module) -> Rewrite:
    """What a script does is a function `main`, called under the guard."""
    if any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in tree.body):
        return
    stays = [node for node in tree.body if _is_definition(node)]
    runs = [node for node in tree.body if not _is_definition(node)]
    bound = {name for node in runs for name in stored_names(node)}
    used = free_names(ast.Module(stays, []))
    if not runs or bound & used or "main" in bound_names(tree) or any(isinstance(node, ast.Delete) for node in runs):
        return
    main = _function("main", copy.deepcopy(runs))
    guard = ast.parse('if __name__ == "__main__":\n    main()').body[0]
    yield "the script", ast.fix_missing_locations(ast.Module([*copy.deepcopy(stays), main, guard], []))


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom) and statement_is_future(node):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    constant = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, ast.Import | ast.ImportFrom | Function | ast.ClassDef)


def unguarded(tree: ast.Module) -> Rewrite:
    """What stands under the guard stands at the top of the module."""
    for position, node in enumerate(tree.body):
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) and not node.orelse:
            changed = copy.deepcopy(tree)
            changed.body[position : position + 1] = copy.deepcopy(node.body)
            yield "the guard", changed
