"""What the names of a package stand for, read from its wheel; nothing of it is imported."""

from __future__ import annotations

import ast
import gc
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Definition", "Definitions", "Package"]

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Definitions = list[Definition]
"""What one name is defined as: several where there are overloads."""

_DEEPEST = 12
_WORDS = re.compile(r"""["'](\w+)["']|^\s*(?:class|def)\s+(\w+)|^(\w+)\s*=""", re.MULTILINE)
_STUBS = ("torch/_C/_VariableFunctions.pyi", "torch/_C/__init__.pyi", "torch/_C/_nn.pyi")
"""The functions of torch that are written in C++, with the signatures that its build generates."""


class _Reference(NamedTuple):
    """A name that another module gives."""

    module: str
    name: str | None
    """None for the module itself."""


class _Module(NamedTuple):
    names: dict[str, Definitions | _Reference]
    stars: list[str]
    """The modules all of whose names are imported."""
    exported: frozenset[str] | None
    """The names in `__all__`; None where there is none, or not as a list."""
    is_package: bool


class Package:
    """The modules of one wheel.

    Args:
        wheel: the file.
        root: the import name of the package.
    """

    def __init__(self, wheel: Path, root: str) -> None:
        self.root = root
        self._modules: dict[str, _Module] = {}
        self._known: dict[str, set[str]] = {}
        self.words: set[str] = set()
        """What is defined, assigned or quoted anywhere: by what a lazy module makes of texts, programs may reach more."""
        gc.disable()  # trees have no cycles, and are looked through again and again while they grow
        with zipfile.ZipFile(wheel) as archive:
            for path in sorted(archive.namelist()):
                if path.startswith(f"{root}/") and (path.endswith(".py") or path in _STUBS):
                    self._add(path, archive.read(path))
        gc.enable()

    def _add(self, path: str, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        self.words.update(word for groups in _WORDS.findall(text) for word in groups if word)
        name = path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError):
            return  # a template, or a test of what must not parse
        is_package = path.rpartition("/")[2].startswith("__init__.")
        module = _Module({}, [], _exported(tree), is_package)
        for statement in _statements(tree.body):
            _bind(statement, name, module)
        self._modules[name] = module

    def public_names(self) -> Iterator[tuple[str, str]]:
        """The names by which programs reach definitions: module and name, in a stable order."""
        for module, content in self._modules.items():
            if any(part.startswith("_") or part in {"tests", "test", "testing"} for part in module.split(".")):
                continue
            for name in sorted(self._names_of(module)):
                is_import = not isinstance(content.names.get(name), list)
                is_offered = content.is_package or (content.exported is not None and name in content.exported)
                if not name.startswith("_") and (is_offered or not is_import):
                    yield module, name

    def resolve(self, module: str, name: str, depth: int = 0) -> tuple[str, Definitions] | None:
        """The module that defines a name, with the definitions; None where this wheel does not define it."""
        content = self._modules.get(module)
        if content is None or depth > _DEEPEST:
            return None
        found = content.names.get(name)
        if isinstance(found, list):
            return module, found
        if found is not None:
            return self.resolve(found.module, found.name, depth + 1) if found.name is not None else None
        for star in content.stars:
            if name in self._names_of(star):
                return self.resolve(star, name, depth + 1)
        return None

    def written(self, module: str, expression: ast.expr) -> tuple[str, str] | None:
        """What a dotted expression in a module means: the module and name that it leads to, here or elsewhere."""
        parts: list[str] = []
        while isinstance(expression, ast.Attribute):
            parts.insert(0, expression.attr)
            expression = expression.value
        content = self._modules.get(module)
        if isinstance(expression, ast.Subscript) or not isinstance(expression, ast.Name) or content is None:
            return None
        found = content.names.get(expression.id)
        if not parts:
            if isinstance(found, _Reference) and found.name is not None:
                return found.module, found.name
            return module, expression.id
        if not isinstance(found, _Reference):
            return None
        base = found.module if found.name is None else f"{found.module}.{found.name}"
        return ".".join([base, *parts[:-1]]), parts[-1]

    def _names_of(self, module: str, depth: int = 0) -> set[str]:
        """What `from module import *` would bind, and for a package what may be imported from it."""
        content = self._modules.get(module)
        if content is None or depth > _DEEPEST:
            return set()
        if module in self._known:
            return self._known[module]
        found = set(content.names)
        for star in content.stars:
            exported = self._modules[star].exported if star in self._modules else None
            found |= exported if exported is not None else self._names_of(star, depth + 1)
        if depth == 0:
            self._known[module] = found
        return found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under `if` and `try` included: what is imported late is there for programs."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.If, ast.Try)):
            yield from _statements(statement.body)
            yield from _statements(statement.orelse)


def _bind(statement: ast.stmt, module: str, content: _Module) -> None:
    """Write down what a statement binds; of two definitions without `@overload` the first counts."""
    names = content.names
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        known = names.get(statement.name)
        if isinstance(known, list) and all(_is_overload(one) for one in known):
            known.append(statement)
        elif not isinstance(known, list):
            names[statement.name] = [statement]
    elif isinstance(statement, ast.ImportFrom):
        source = _absolute(statement, module, is_package=content.is_package)
        for alias in statement.names:
            if alias.name == "*":
                content.stars.append(source)
            else:
                names.setdefault(alias.asname or alias.name, _Reference(source, alias.name))
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            whole = alias.name if alias.asname is not None else alias.name.partition(".")[0]
            names.setdefault(alias.asname or whole, _Reference(whole, None))
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                names.setdefault(target.id, _Reference(module, statement.value.id))


def _is_overload(definition: Definition) -> bool:
    return any(ast.unparse(decorator).rpartition(".")[2] == "overload" for decorator in definition.decorator_list)


def _absolute(statement: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    kept = len(parts) - statement.level + (1 if is_package else 0)
    return ".".join([*parts[:kept], *([statement.module] if statement.module else [])])


def _exported(tree: ast.Module) -> frozenset[str] | None:
    found: set[str] = set()
    is_there = False
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AugAssign):
            targets = [statement.target]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            is_there = True
            value = getattr(statement, "value", None)
            found |= _texts(value) if value is not None else set()
    return frozenset(found) if is_there else None


def _texts(node: ast.AST) -> set[str]:
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
