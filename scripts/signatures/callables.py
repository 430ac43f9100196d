"""The parameters of a package's public functions, classes and methods, as entries of the tables of signatures."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from scripts.signatures.namespaces import Definition, Definitions, Package

__all__ = ["Callables", "Entry", "merged"]

_CALLED = ("__init__", "__call__")
_DEEPEST = 12
_HOLDS_FIELDS = ("Config", "Output", "OutputWithPast")
"""Ends of the names of the classes whose arguments everybody passes by keyword: a third of transformers' names."""
_ANYTHING = "*args,**"


class Entry(NamedTuple):
    """What one release says of one name."""

    bases: tuple[str, ...] | None
    """None for a function."""
    signatures: dict[str, str]
    """By method; that of a function under the empty name."""
    stands_for: str | None = None
    """The shorter name of the same thing."""


def merged(releases: dict[str, dict[str, Entry]], words: Collection[str] = ()) -> Iterator[str]:
    """The lines of a table: what differs between releases, the newest first, is an alternative, as overloads are.

    Args:
        releases: by version.
        words: of the newest release; a name that is among them is not said to be gone.
    """
    for name in sorted({name for entries in releases.values() for name in entries}):
        known = [entries[name] for entries in releases.values() if name in entries]
        columns = [name]
        if known[0].stands_for is not None:
            columns.append(f"={known[0].stands_for}")
        else:
            bases = dict.fromkeys(base for entry in known for base in entry.bases or ())
            if any(entry.bases is not None for entry in known):
                columns.append(f"({' '.join(bases)})")
            for method in sorted({method for entry in known for method in entry.signatures}):
                texts = (entry.signatures[method] for entry in known if method in entry.signatures)
                alternatives = dict.fromkeys(each for text in texts for each in text.split("|"))
                columns.append(f"{method}={'|'.join(alternatives)}")
        last = name.rpartition(".")[2]
        # transformers 5 makes every name with this ending from the one without it.
        may_be_there = last in words or last.endswith("Fast")
        has_it = [name in entries for entries in releases.values()]
        yield "\t".join([*columns, *_bounds([has_it[0] or may_be_there, *has_it[1:]], [*releases])])


def _bounds(has_it: list[bool], releases: list[str]) -> list[str]:
    """Between which of the known releases a name came to be, and between which it went: `>4.46.3,<5.0.0`."""
    newest, oldest = has_it.index(True), len(has_it) - 1 - has_it[::-1].index(True)
    lower = f">{releases[oldest + 1]}" if oldest + 1 < len(releases) else ""
    upper = f"<{releases[newest - 1]}" if newest else ""
    return [",".join(filter(None, (lower, upper)))] if lower or upper else []


class Callables:
    """What can be called in one package."""

    def __init__(
        self,
        package: Package,
        without: tuple[str, ...] = (),
        methods: frozenset[str] | None = None,
        *,
        is_flat: bool = False,
    ) -> None:
        self._package = package
        self._without = without
        self._is_flat = is_flat
        self._methods_kept = methods
        self._names: dict[tuple[str, str], str] = {}
        """The shortest public name of each definition, by where it is defined."""
        self._aliases: dict[str, tuple[str, str]] = {}
        self._own: dict[tuple[str, str], dict[str, str]] = {}
        for module, name in package.public_names():
            found = package.resolve(module, name)
            public = f"{module}.{name}"
            if found is None or public.startswith(without) or (is_flat and module != package.root):
                continue
            place = (found[0], found[1][0].name)
            self._aliases[public] = place
            known = self._names.get(place)
            if known is None or (public.count("."), public) < (known.count("."), known):
                self._names[place] = public

    def entries(self) -> dict[str, Entry]:
        """By qualified name what this release says of it."""
        found: dict[str, Entry] = {}
        waiting = [*self._names]
        seen = set(waiting)
        for place in waiting:
            resolved = self._package.resolve(*place)
            name = self._name_of(place)
            if resolved is None or name.startswith(self._without):
                continue
            first = resolved[1][0]
            if isinstance(first, ast.ClassDef):
                bases = self._bases(resolved[0], first)
                waiting += [base for base in bases if base not in seen]
                seen.update(bases)
                inherited = self._inherited(place)
                own = {key: text for key, text in self._methods(place).items() if inherited.get(key) != text}
                found[name] = Entry(tuple(map(self._name_of, bases)), own)
            else:
                found[name] = Entry(None, {"": _overloads(resolved[1], is_method=False)})
        for public, place in self._aliases.items():
            name = self._name_of(place)
            if name != public and name in found:
                found[public] = Entry(None, {}, name)
        return found

    def _inherited(self, place: tuple[str, str], depth: int = 0) -> dict[str, str]:
        """The methods that a class has by its bases."""
        found: dict[str, str] = {}
        resolved = self._package.resolve(*place)
        if resolved is None or not isinstance(resolved[1][0], ast.ClassDef) or depth > _DEEPEST:
            return found
        for base in reversed(self._bases(resolved[0], resolved[1][0])):
            found |= self._inherited(base, depth + 1) | self._methods(base)
        return found

    def _name_of(self, place: tuple[str, str]) -> str:
        return self._names.get(place) or ".".join(place)

    def _bases(self, module: str, cls: ast.ClassDef) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for base in cls.bases:
            written = self._package.written(module, base)
            if written is None or written[1] in {"object", "ABC", "Protocol", "Generic"}:
                continue
            resolved = self._package.resolve(*written)
            found.append((resolved[0], resolved[1][0].name) if resolved is not None else written)
        return found

    def _methods(self, place: tuple[str, str]) -> dict[str, str]:
        """The signatures of the methods that a class itself defines."""
        known = self._own.get(place)
        if known is not None:
            return known
        found = self._own[place] = {}
        resolved = self._package.resolve(*place)
        cls = resolved[1][0] if resolved is not None else None
        if resolved is None or not isinstance(cls, ast.ClassDef):
            return found
        if self._is_flat and cls.name.endswith(_HOLDS_FIELDS):
            found["__init__"] = _ANYTHING
            return found
        own: dict[str, Definitions] = {}
        for statement in cls.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                own.setdefault(statement.name, []).append(statement)
        for name, definitions in sorted(own.items()):
            is_kept = name in _CALLED or not name.startswith("_")
            if self._methods_kept is not None:
                is_kept = name in self._methods_kept
            if is_kept and not _is_property(definitions):
                found[name] = _overloads(definitions, is_method=True)
        if "__init__" not in own and _is_dataclass(cls):
            fields = self._fields(resolved[0], cls)
            ordered = [name for name, is_keyword in fields.items() if not is_keyword]
            keywords = [name for name, is_keyword in fields.items() if is_keyword]
            found["__init__"] = ",".join([*ordered, *(["*", *keywords] if keywords else [])])
        return found

    def _fields(self, module: str, cls: ast.ClassDef, depth: int = 0) -> dict[str, bool]:
        """The fields of a dataclass, those of its bases first, and whether each goes by keyword only."""
        found: dict[str, bool] = {}
        for base in reversed(self._bases(module, cls)) if depth < _DEEPEST else ():
            resolved = self._package.resolve(*base)
            first = resolved[1][0] if resolved is not None else None
            if resolved is not None and isinstance(first, ast.ClassDef) and _is_dataclass(first):
                found.update(self._fields(resolved[0], first, depth + 1))
        all_keywords = any(_has(decorator, "kw_only", value=True) for decorator in cls.decorator_list)
        for statement in cls.body:
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            annotation = ast.unparse(statement.annotation)
            if "ClassVar" not in annotation and not _has(statement.value, "init", value=False):
                found[statement.target.id] = all_keywords or _has(statement.value, "kw_only", value=True)
        return found


def _is_dataclass(cls: ast.ClassDef) -> bool:
    return any(_last(decorator) == "dataclass" for decorator in cls.decorator_list)


def _has(node: ast.expr | None, keyword: str, *, value: bool) -> bool:
    """Whether the call passes the keyword with this constant."""
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return any(
        one.arg == keyword and isinstance(one.value, ast.Constant) and one.value.value is value for one in keywords
    )


def _last(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(node).rpartition(".")[2]


def _is_property(definitions: Definitions) -> bool:
    return any(
        _last(decorator) in {"property", "cached_property", "setter", "classproperty", "deleter"}
        for definition in definitions
        for decorator in definition.decorator_list
    )


def _overloads(definitions: Definitions, *, is_method: bool) -> str:
    """The signatures of a function: that of the implementation where there is one, else of all its overloads."""
    written = [one for one in definitions if not any(_last(each) == "overload" for each in one.decorator_list)]
    return "|".join(dict.fromkeys(_signature(one, is_method=is_method) for one in written[:1] or definitions))


def _signature(definition: Definition, *, is_method: bool) -> str:
    """`a,b,*,c,**`: parameters in order, without the receiver; `*` alone begins those that go by keyword only."""
    if isinstance(definition, ast.ClassDef):
        return _ANYTHING
    arguments = definition.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if is_method and not any(_last(decorator) == "staticmethod" for decorator in definition.decorator_list):
        positional = positional[1:]
    parts = [*positional]
    if arguments.vararg is not None:
        parts.append("*" + arguments.vararg.arg)
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += (argument.arg for argument in arguments.kwonlyargs)
    if arguments.kwarg is not None:
        parts.append("**")
    return ",".join(parts)
