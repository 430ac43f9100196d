"""Rewrites that change what things are called."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import cast

from llm_lsp.knowledge.library import GRADIENTS_OFF_FUNCTIONS
from scripts.rewriting.scopes import Function, Scope, bound_names, functions, is_plain, parameters, rename

__all__ = [
    "import_aliases",
    "keyword_arguments",
    "module_imports",
    "renamed_attributes",
    "renamed_functions",
    "renamed_locals",
]

Rewrite = Iterator[tuple[str, ast.Module]]
"""What was changed, and the program that it gives."""

_MOST = 12
"""So many names of a program, spread over all of it, are changed."""

_CALLED_BY_NAME = frozenset({"__init__", "__call__", "forward"})


def renamed_locals(tree: ast.Module) -> Rewrite:
    """A local variable, a parameter or a module's variable has another name."""
    candidates = [
        (position, name) for position, scope in enumerate(_scopes(tree)) for name in sorted(_renameable(tree, scope))
    ]
    for position, name in candidates[:: 1 + len(candidates) // _MOST]:
        changed = copy.deepcopy(tree)
        scope = _scopes(changed)[position]
        rename(scope, name, f"{name}_2")
        yield f"{name} in {getattr(scope, 'name', 'the module')}", changed


def _scopes(tree: ast.Module) -> list[Scope]:
    return [tree, *functions(tree)]


def _renameable(tree: ast.Module, scope: Scope) -> set[str]:
    names = {name for name in bound_names(scope) if is_plain(scope, name)}
    if isinstance(scope, ast.Module):
        defined = {node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)}
        return {name for name in names - defined if not name.startswith("__") and is_plain(tree, name)}
    fixed = {parameter.arg for parameter in parameters(scope)}
    if not scope.decorator_list and not _is_in_class(tree, scope):
        keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
        fixed &= keywords | {parameter.arg for parameter in (scope.args.vararg, scope.args.kwarg) if parameter}
    nested = {node.name for node in ast.walk(scope) if isinstance(node, Function | ast.ClassDef)}
    return names - fixed - nested


def _is_in_class(tree: ast.Module, function: Function) -> bool:
    return any(isinstance(node, ast.ClassDef) and function in node.body for node in ast.walk(tree))


def renamed_functions(tree: ast.Module) -> Rewrite:
    """A function at the top of the module has another name, unless its name says who calls it: `compute_metrics`."""
    for function in tree.body:
        if not isinstance(function, Function) or function.name in GRADIENTS_OFF_FUNCTIONS:
            continue
        if is_plain(tree, function.name) and not function.decorator_list:
            changed = copy.deepcopy(tree)
            rename(changed, function.name, f"{function.name}_2")
            yield function.name, changed


def renamed_attributes(tree: ast.Module) -> Rewrite:
    """An attribute or a method of a class of the project has another name."""
    for position, node in enumerate(tree.body):
        if not isinstance(node, ast.ClassDef) or node.bases or node.decorator_list:
            continue
        for name in sorted(_own_attributes(tree, node)):
            changed = copy.deepcopy(tree)
            for each in ast.walk(changed.body[position]):
                if isinstance(each, ast.Attribute) and each.attr == name:
                    each.attr = f"{name}_2"
                elif isinstance(each, Function) and each.name == name:
                    each.name = f"{name}_2"
            yield f"{node.name}.{name}", changed


def _own_attributes(tree: ast.Module, node: ast.ClassDef) -> set[str]:
    """The attributes that the class sets or defines and that only `self` is ever asked for."""
    defined = {each.name for each in node.body if isinstance(each, Function)} - _CALLED_BY_NAME
    attributes = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute)]
    stored = {each.attr for each in attributes if isinstance(each.ctx, ast.Store) and _is_self(each)}
    elsewhere = {each.attr for each in attributes if not _is_self(each)}
    outside = {
        each.attr
        for other in tree.body
        if other is not node
        for each in ast.walk(other)
        if isinstance(each, ast.Attribute)
    }
    overridden = {each.name for each in ast.walk(tree) if isinstance(each, Function) and each not in node.body}
    return {name for name in (defined | stored) - elsewhere - outside - overridden if not name.startswith("__")}


def _is_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def import_aliases(tree: ast.Module) -> Rewrite:
    """`from transformers import AutoTokenizer` is `... as AutoTokenizer_2`, `import torch` is `... as torch_2`."""
    for position, statement in enumerate(tree.body):
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        for number, alias in enumerate(statement.names):
            name = alias.asname or alias.name
            if "." in name or name == "*" or statement_is_future(statement) or _is_rebound(tree, name):
                continue
            changed = copy.deepcopy(tree)
            cast("ast.Import | ast.ImportFrom", changed.body[position]).names[number].asname = f"{name}_2"
            rename(changed, name, f"{name}_2")
            yield name, changed


def module_imports(tree: ast.Module) -> Rewrite:
    """`from transformers import AutoTokenizer` and `AutoTokenizer` are `import transformers` and `transformers.AutoTokenizer`."""
    for position, statement in enumerate(tree.body):
        if not isinstance(statement, ast.ImportFrom) or statement.level or statement_is_future(statement):
            continue
        module = statement.module or ""
        names = [alias.asname or alias.name for alias in statement.names]
        root = module.partition(".")[0]
        if "*" in names or any(_is_rebound(tree, name) for name in names) or root in bound_names(tree):
            continue
        changed = copy.deepcopy(tree)
        changed.body[position] = ast.Import(names=[ast.alias(name=module)])
        replaced = {alias.asname or alias.name: f"{module}.{alias.name}" for alias in statement.names}
        yield module, ast.fix_missing_locations(cast("ast.Module", _Dotted(replaced).visit(changed)))


class _Dotted(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names:
            return node
        return ast.parse(self._names[node.id], mode="eval").body


def statement_is_future(statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether this is no import at all."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_rebound(tree: ast.Module, name: str) -> bool:
    """Whether anything but one import at the top binds the name."""
    imports = 0
    for node in ast.walk(tree):
        match node:
            case ast.alias() if (node.asname or node.name.partition(".")[0]) == name:
                imports += 1
            case ast.Name(ctx=ast.Store() | ast.Del()) if node.id == name:
                return True
            case ast.arg() if node.arg == name:
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node.name == name:
                return True
            case ast.Global() | ast.Nonlocal() if name in node.names:
                return True
            case _:
                pass
    return imports != 1


def keyword_arguments(tree: ast.Module) -> Rewrite:
    """What was passed by position is passed by name: the id of `from_pretrained`, the device of `to`."""
    changed = copy.deepcopy(tree)
    count = 0
    for node in ast.walk(changed):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
            continue
        value = node.args[0]
        owner = ast.unparse(node.func.value)
        if node.func.attr == "from_pretrained" and "Peft" not in owner and not isinstance(value, ast.Starred):
            node.keywords.insert(0, ast.keyword("pretrained_model_name_or_path", value))
        elif node.func.attr == "to" and isinstance(value, ast.Constant) and isinstance(value.value, str):
            node.keywords.insert(0, ast.keyword("device", value))
        else:
            continue
        node.args.clear()
        count += 1
    if count:
        yield f"{count} calls", changed
