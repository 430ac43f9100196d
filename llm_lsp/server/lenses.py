"""Where code lenses stand: above classes that are modules, and above functions that build a model.

By syntax alone, so that they neither wait for an analysis nor come and go while somebody types.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from llm_lsp.diagnostic import Location, Position, Range
from llm_lsp.source import Source

__all__ = ["LensPlace", "lens_places"]

_MODULE_BASES = re.compile(r"(?:\w*Module|\w*PreTrainedModel)\Z")
_MODEL_CLASSES = re.compile(r"AutoModel\w*|\w+(?:Model|For[A-Z]\w+|LMHeadModel)\Z")
_BUILDERS = ("from_pretrained", "from_config")


class LensPlace(NamedTuple):
    """A class or function that a lens stands above."""

    name: str
    kind: str
    """`class` or `function`."""
    location: Location
    """Of its name."""


def lens_places(source: Source, before: Iterable[LensPlace]) -> tuple[LensPlace, ...]:
    """The places in a file.

    Args:
        source: the file.
        before: those of the text before: one whose header is just being edited, so that it can't be parsed, stays.
    """
    found = list(_places(source))
    if source.masked:
        names = {place.name for place in found}
        found += [moved for place in before if place.name not in names for moved in _found_again(source, place)]
    return tuple(sorted(found, key=lambda place: place.location))


def _places(source: Source) -> Iterator[LensPlace]:
    modules: set[str] = set()
    # Few functions name what builds a model, and only those are walked through.
    rows = sorted(row for word in _BUILDERS for row in _rows_of(word, source.code))
    for node in _definitions(source.tree):
        if isinstance(node, ast.ClassDef):
            if any(_MODULE_BASES.match(name) or name in modules for name in map(_last_name, node.bases)):
                if node.name not in modules:
                    modules.add(node.name)
                    rows = sorted([*rows, *_rows_of(node.name, source.code)])
                yield _place(source, node, "class")
            continue
        names_one = bisect_left(rows, node.lineno) < bisect_right(rows, node.end_lineno or node.lineno)
        # Python takes one name for another that is written with other characters.
        if (names_one or not source.is_ascii) and any(_builds(call, modules) for call in _own_calls(node)):
            yield _place(source, node, "function")


def _rows_of(word: str, text: str) -> Iterator[int]:
    row, seen, at = 1, 0, text.find(word)
    while at >= 0:
        row += text.count("\n", seen, at)
        yield row
        seen, at = at, text.find(word, at + len(word))


def _definitions(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Classes wherever they stand, and functions that are not methods."""
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        if isinstance(node, ast.ClassDef):
            pending.extend(each for each in reversed(node.body) if isinstance(each, ast.ClassDef))
        elif isinstance(node, (ast.If, ast.Try)):
            pending.extend(reversed([*node.body, *node.orelse]))


def _own_calls(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))


def _builds(call: ast.Call, modules: set[str]) -> bool:
    match call.func:
        case ast.Attribute(value=owner, attr=attribute) if attribute in _BUILDERS:
            return bool(_MODEL_CLASSES.match(_last_name(owner)))
        case ast.Name(id=name):
            return name in modules
        case _:
            return False


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return _last_name(value)
        case _:
            return ""


def _place(source: Source, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, kind: str) -> LensPlace:
    line = source.lines[node.lineno - 1] if node.lineno <= len(source.lines) else ""
    found = re.search(rf"\b{re.escape(node.name)}\b", line)
    column = found.start() + 1 if found else 1
    start = Position(node.lineno, column)
    end = Position(node.lineno, column + len(node.name))
    return LensPlace(node.name, kind, source.locate(Range(start, end)))


def _found_again(source: Source, place: LensPlace) -> Iterator[LensPlace]:
    word = "class" if place.kind == "class" else "def"
    header = re.compile(rf"[ \t]*(?:async[ \t]+)?{word}[ \t]+(?P<name>{re.escape(place.name)})\b")
    for row, line in enumerate(source.lines, 1):
        if found := header.match(line):
            start, end = Position(row, found.start("name") + 1), Position(row, found.end("name") + 1)
            yield place._replace(location=source.locate(Range(start, end)))
            return
