"""Imports that a fix needs, put where a person would put them."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence

from llm_lsp.fixes.arguments import append, prepend
from llm_lsp.fixes.bindings import bindings, root
from llm_lsp.fixes.layout import FUNCTIONS, Layout, Splice, Unfixable, blocks
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.rule import EnsureImport

__all__ = ["Use", "ensure_imports"]

STANDARD, THIRD_PARTY, LOCAL = range(3)


class Use(NamedTuple):
    """A place whose new text may name the import: its offset, its text, and whether a decorator's."""

    offset: int
    text: str
    decorates: bool


class _Line(NamedTuple):
    """An import that stands at module level."""

    statement: ast.Import | ast.ImportFrom
    first_row: int
    last_row: int

    @property
    def module(self) -> str:
        if isinstance(self.statement, ast.ImportFrom):
            return "." * self.statement.level + (self.statement.module or "")
        return self.statement.names[0].name

    @property
    def package(self) -> str:
        return _package(self.module)

    @property
    def plain(self) -> bool:
        return isinstance(self.statement, ast.Import)

    @property
    def kind(self) -> int:
        return _kind(self.module)


class _Gap(NamedTuple):
    """A place for new lines: an offset, and what separates them from their neighbours."""

    offset: int
    before: str
    after: str


def ensure_imports(layout: Layout, wanted: Sequence[EnsureImport], uses: Sequence[Use]) -> list[Splice]:
    """The splices after which every wanted import binds its name where it is used."""
    body = _before_use(layout, uses)
    missing = [one for one in dict.fromkeys(wanted) if _is_missing(layout, one, uses)]
    names: dict[str, list[str]] = {}
    for one in missing:
        if one.module.partition(".")[0] in layout.names.optional_packages:
            raise Unfixable("the module does without this package where it is not installed")
        names.setdefault(one.module, [])
        if one.name is not None:
            names[one.module].append(one.name)
    splices: list[Splice] = []
    lines: dict[_Gap, list[tuple[bool, str, str]]] = {}
    for module, of_module in names.items():
        line = _extensible(body, module) if of_module else None
        if line is not None:
            splices += _extended(layout, line, of_module)
        elif of_module:
            gap = _gap(layout, body, module, plain=False)
            lines.setdefault(gap, []).append((False, module, f"from {module} import {', '.join(sorted(of_module))}"))
        if any(one.module == module and one.name is None for one in missing):
            gap = _gap(layout, body, module, plain=True)
            lines.setdefault(gap, []).append((True, module, f"import {module}"))
    return splices + _inserted(lines)


def _inserted(lines: dict[_Gap, list[tuple[bool, str, str]]]) -> list[Splice]:
    """One splice for each offset; plain imports first, a new section after the lines that join an old one."""
    texts: dict[int, str] = {}
    for gap, added in sorted(lines.items(), key=lambda one: (one[0].offset, len(one[0].before))):
        ordered = sorted(added, key=lambda one: (not one[0], one[1].lower()))
        text = gap.before + "\n".join(text for *_, text in ordered) + gap.after
        texts[gap.offset] = texts.get(gap.offset, "") + text
    return [Splice(offset, offset, text) for offset, text in texts.items()]


def _before_use(layout: Layout, uses: Sequence[Use]) -> list[ast.stmt]:
    """The statements of the module before the first one that uses the import."""
    body = layout.tree.body
    if not uses:
        return body
    first = min(layout.row(one.offset) for one in uses)
    return layout.above(body, first)


# ---------------------------------------------------------------- what is bound already


def _is_missing(layout: Layout, wanted: EnsureImport, uses: Sequence[Use]) -> bool:
    naming = [one for one in uses if root(wanted) in one.text]
    if naming and all(_is_bound_locally(layout, wanted, one) for one in naming):
        return False
    if root(wanted) in layout.names.declared_global:
        raise Unfixable("a function may bind the module's name")
    at_once = [layout.row(one.offset) for one in naming if not _functions(layout, one)]
    clashes = False
    for one in layout.names.bindings.get(root(wanted), ()):
        if one.is_import(wanted) and all(one.row < row for row in at_once):
            return False
        clashes = clashes or one.clashes_with(wanted)
    if clashes:
        raise Unfixable("the module binds this name to something else")
    return True


def _is_bound_locally(layout: Layout, wanted: EnsureImport, use: Use) -> bool:
    """Whether a function around the use imports it before; any other binding there leaves no way."""
    row = layout.row(use.offset)
    for function in reversed(_functions(layout, use)):
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        if any(one is not None and one.arg == root(wanted) for one in named):
            raise Unfixable("a parameter hides the import")
        found = [one for one in bindings(function.body) if one.name == root(wanted)]
        if found:
            if any(one.clashes_with(wanted) for one in found):
                raise Unfixable("a local name hides the import")
            if not any(one.is_import(wanted) and one.row < row for one in found):
                raise Unfixable("the function imports it too late")
            return True
    return False


def _functions(layout: Layout, use: Use) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions in whose bodies a use lies, from the outside in; a decorator lies outside its own."""
    row = layout.row(use.offset)
    found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    pending = [layout.tree.body]
    while pending:
        for node in layout.on_rows(pending.pop(), row, row):
            is_entered = not (use.decorates and node.lineno >= row)
            if isinstance(node, FUNCTIONS) and is_entered and node.body[0].lineno <= row:
                found.append(node)
            pending.extend(blocks(node, layout))
    return found


# ---------------------------------------------------------------- an import that is there already


def _extensible(body: Sequence[ast.stmt], module: str) -> ast.ImportFrom | None:
    for one in body:
        if isinstance(one, ast.ImportFrom) and one.module == module and not one.level and one.names[0].name != "*":
            return one
    return None


def _extended(layout: Layout, line: ast.ImportFrom, names: Sequence[str]) -> list[Splice]:
    """The whole statement anew, so that two fixes which need the same name make the same edit."""
    start, end = layout.span(line)
    tokens = layout.tokens(start, end)
    tokens = [one for one in tokens if one.start >= start]
    bracket = next((one for one in tokens if one.text == "("), None)
    written = [one.name for one in line.names]
    order = _order(written)
    new: dict[int, list[str]] = {}
    for name in sorted(names, key=order or str):
        at = len(written) if order is None else bisect_left([order(one) for one in written], order(name))
        new.setdefault(at, []).append(name)
    splices: list[Splice] = []
    for at, items in new.items():
        if at < len(written):
            splices += prepend(layout, layout.span(line.names[at])[0], items, lines=bracket is not None)
        else:
            closing = end - 1 if bracket is not None else end
            last = layout.span(line.names[-1])[0]
            splices += append(layout, tokens, closing, last, items, lines=bracket is not None)
    text = layout.text[start:end]
    for one in sorted(splices, reverse=True):
        text = text[: one.start - start] + one.content + text[one.end - start :]
    return [Splice(start, end, text)]


def _order(names: Sequence[str]) -> Callable[[str], tuple[int, str]] | None:
    """The order in which the names are sorted already; constants, classes, functions if nothing speaks against it."""
    orders: tuple[Callable[[str], tuple[int, str]], ...] = (_by_type, _by_case, _by_letter)
    for order in orders:
        keys = [order(one) for one in names]
        if keys == sorted(keys):
            return order
    return None


def _by_type(name: str) -> tuple[int, str]:
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2, name)


def _by_case(name: str) -> tuple[int, str]:
    return (0, name)


def _by_letter(name: str) -> tuple[int, str]:
    return (0, name.lower())


# ---------------------------------------------------------------- a new line


def _package(module: str) -> str:
    return module.partition(".")[0]


def _kind(module: str) -> int:
    if module.startswith("."):
        return LOCAL
    return STANDARD if _package(module) in sys.stdlib_module_names else THIRD_PARTY


def _gap(layout: Layout, body: Sequence[ast.stmt], module: str, *, plain: bool) -> _Gap:
    groups = _groups(layout, body)
    lines = [line for group in groups for line in group]
    if not lines:
        return _first_gap(layout, body)
    kind = _kind(module)
    same_package = [group for group in groups if any(one.package == _package(module) for one in group)]
    same_kind = [group for group in groups if any(one.kind == kind for one in group)]
    for group in same_package + same_kind:
        return _gap_among(layout, [one for one in group if one.kind == kind], module, plain=plain)
    before = [one for one in lines if one.kind < kind]
    if before:
        return _below(layout, before[-1].last_row, "\n\n")
    return _above(layout, lines[0].first_row, "\n\n")


def _gap_among(layout: Layout, peers: Sequence[_Line], module: str, *, plain: bool) -> _Gap:
    """The place among imports of one kind, in the order that they have."""
    flags = [one.plain for one in peers]
    if flags == sorted(flags, reverse=True):
        same = [one for one in peers if one.plain is plain]
        if not same:
            return _above(layout, peers[0].first_row, "\n") if plain else _below(layout, peers[-1].last_row, "\n")
        peers = same
    keys = [one.module.lower() for one in peers]
    if keys == sorted(keys):
        at = bisect_left(keys, module.lower())
    else:
        alike = [index for index, one in enumerate(peers) if one.package == _package(module)]
        at = alike[-1] + 1 if alike else len(peers)
    return _below(layout, peers[at - 1].last_row, "\n") if at else _above(layout, peers[0].first_row, "\n")


def _below(layout: Layout, row: int, before: str) -> _Gap:
    layout.check_row_break(row + 1)
    return _Gap(layout.line_end(row), before, "")


def _above(layout: Layout, row: int, after: str) -> _Gap:
    layout.check_row_break(row)
    return _Gap(layout.line_start(row), "", after)


def _groups(layout: Layout, body: Sequence[ast.stmt]) -> list[list[_Line]]:
    """The imports at the head of the module (in a notebook, of its first cell that has any), split at blank lines."""
    groups: list[list[_Line]] = []
    cell: object = None
    previous: ast.stmt | None = None
    for one in body:
        if isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            break
        if isinstance(one, (ast.Import, ast.ImportFrom)) and getattr(one, "module", None) != "__future__":
            here = layout.cell(one.lineno)
            if groups and here != cell:
                break
            cell = here
            line = _Line(one, one.lineno, layout.last_row(one))
            rows = layout.lines[groups[-1][-1].last_row : line.first_row - 1] if groups else []
            if groups and previous is groups[-1][-1].statement and all(row.strip() for row in rows):
                groups[-1].append(line)
            else:
                groups.append([line])
        previous = one
    return groups


def _first_gap(layout: Layout, body: Sequence[ast.stmt]) -> _Gap:
    """The place of a module's only import: after the docstring and the future imports, below the head comment."""
    head = [one for index, one in enumerate(body) if _is_head(one, index)]
    if head:
        row = layout.last_row(head[-1])
        blank = row >= len(layout.lines) or not layout.lines[row].strip() or layout.ends_cell(row)
        layout.check_row_break(row + 1)
        return _Gap(layout.line_end(row), "\n\n", "" if blank else "\n")
    if layout.source.is_notebook:
        row = layout.first_code_row()
        layout.check_row_break(row)
        return _Gap(layout.line_start(row), "", "\n")
    first = layout.tree.body[0] if layout.tree.body else None
    row = _above_its_comment(layout, layout.first_row(first) if first else 1)
    if not layout.lines[row - 1].strip():
        return _above(layout, row, "\n")
    return _above(layout, row, "\n\n\n" if isinstance(first, (*FUNCTIONS, ast.ClassDef)) else "\n\n")


def _is_head(statement: ast.stmt, index: int) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return index == 0 and isinstance(statement.value.value, str)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _above_its_comment(layout: Layout, row: int) -> int:
    """The first row of the comment right above `row`, unless that is the head of the file."""
    first = row
    while first > 1 and layout.lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first if first > 1 else row
