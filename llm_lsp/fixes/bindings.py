"""What the statements of one scope bind, and whether that is the import that a fix needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from llm_lsp.named_tuples import NamedTuple
from llm_lsp.rule import EnsureImport

__all__ = ["Binding", "ModuleNames", "bindings", "root"]


class Binding(NamedTuple):
    """A name and where it comes from: `import module`, `from module import attribute`, or neither."""

    name: str
    row: int
    module: str | None = None
    attribute: str | None = None

    def is_import(self, wanted: EnsureImport) -> bool:
        """Whether this binds just what `wanted` asks for."""
        if wanted.name is not None:
            return (self.module, self.attribute, self.name) == (wanted.module, wanted.name, wanted.name)
        if self.module is None or self.attribute is not None or self.name != root(wanted):
            return False
        return f"{self.module}.".startswith(f"{wanted.module}.")

    def clashes_with(self, wanted: EnsureImport) -> bool:
        """Whether the wanted import would take the name away from something else."""
        if self.name != root(wanted) or self.is_import(wanted):
            return False
        package = wanted.name is None and self.attribute is None and self.module is not None
        return not (package and f"{self.module}.".startswith(f"{self.name}."))


def root(wanted: EnsureImport) -> str:
    """The name that the import binds."""
    return wanted.name or wanted.module.partition(".")[0]


def bindings(body: Sequence[ast.stmt]) -> Iterator[Binding]:
    """What a scope's statements bind wherever it runs: not under `TYPE_CHECKING`, not in a script's main block."""
    for statement in body:
        match statement:
            case ast.Import():
                for alias in statement.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    renamed = alias.asname is not None and alias.asname != alias.name
                    yield Binding(name, statement.lineno, alias.name, "" if renamed else None)
            case ast.ImportFrom():
                module = "." * statement.level + (statement.module or "")
                for alias in statement.names:
                    yield Binding(alias.asname or alias.name, statement.lineno, module, alias.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield Binding(statement.name, statement.lineno)
            case ast.If() if _is_elsewhere(statement.test):
                yield from bindings(statement.orelse)
            case _:
                yield from _others(statement)


def _others(statement: ast.stmt) -> Iterator[Binding]:
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from bindings([child])
            elif not isinstance(child, ast.Lambda):
                pending.append(child)
        name = _bound_by(node)
        if name is not None:
            yield Binding(name, statement.lineno)


def _bound_by(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return name
        case ast.MatchMapping(rest=str(name)):
            return name
        case _:
            return None


def _is_elsewhere(test: ast.expr) -> bool:
    match test:
        case ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.Compare(ast.Name("__name__"), [ast.Eq()]):
            return True
        case _:
            return False


class ModuleNames:
    """What a module binds, looked at once for all fixes of a file.

    Args:
        body: the statements of the module.
        text: the module.
    """

    def __init__(self, body: Sequence[ast.stmt], text: str) -> None:
        self._body = body
        self._text = text

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """The bindings of the module's own statements, by name."""
        found: dict[str, list[Binding]] = {}
        for one in bindings(self._body):
            found.setdefault(one.name, []).append(one)
        return found

    @cached_property
    def optional_packages(self) -> frozenset[str]:
        """The packages that are imported in a `try` or an `if` only: the module may do without them."""
        plain = [one for one in self._body if isinstance(one, (ast.Import, ast.ImportFrom))]
        others = [one for one in self._body if not isinstance(one, (ast.Import, ast.ImportFrom))]
        return _packages(others) - _packages(plain)

    @cached_property
    def declared_global(self) -> frozenset[str]:
        """The names that `global` statements may speak of; a string that reads like one counts too."""
        # Without a `\b` before it: only for plain text does `re` look as quickly as `str.find`.
        statements = re.findall(r"global\s[^\n;#]*", self._text)
        return frozenset(word for statement in statements for word in re.findall(r"\w+", statement)[1:])


def _packages(body: Sequence[ast.stmt]) -> frozenset[str]:
    return frozenset(one.module.partition(".")[0] for one in bindings(body) if one.module is not None)
