"""From a repair as a rule declares it to the edits of a fix, or to none where that can't be done well."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from llm_lsp.diagnostic import Edit, Fix, Position, Range
from llm_lsp.fixes.arguments import set_arguments
from llm_lsp.fixes.imports import Use, ensure_imports
from llm_lsp.fixes.layout import Layout, Splice, Unfixable, blocks, comments, spliced
from llm_lsp.fixes.statements import decorate, delete, function_at, insert_after, insert_before, wrap, wrap_following
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.parsing import python_tree
from llm_lsp.rule import (
    Change,
    Decorate,
    EnsureImport,
    InsertAfter,
    InsertBefore,
    Repair,
    Replace,
    SetArgument,
    Wrap,
    WrapFollowing,
)
from llm_lsp.source import Source

__all__ = ["realise"]

PLACES_IN_FORMAT_STRINGS = sys.version_info >= (3, 12)
"""Whether `ast` knows where the parts of an f-string stand."""
FORMAT_STRINGS: tuple[type[ast.expr], ...] = (ast.JoinedStr, getattr(ast, "TemplateStr", ast.JoinedStr))


class _Claim(NamedTuple):
    """Lines that one change rewrites as a whole; what others insert there would get the wrong indentation."""

    start: int
    end: int
    splices: frozenset[Splice]


def realise(source: Source, repair: Repair) -> Fix | None:
    """The edits of a repair, in the coordinates of files and cells.

    None where nothing is to be changed, and where it can't be done without a guess: a magic or a broken line, two
    statements on a line, a comment that would be lost, a place inside an f-string below Python 3.12, a name that is
    bound to something else. The result is proven to parse and to keep every comment.
    """
    layout = Layout.of(source)
    try:
        splices = _splices(layout, repair.changes)
        _check_places(layout, splices)
        _check_result(layout, splices)
    except (Unfixable, SyntaxError, RecursionError):
        return None
    if not splices:
        return None
    edits = tuple(_edit(layout, one) for one in splices)
    return Fix(repair.message, repair.applicability, edits)


def _edit(layout: Layout, splice: Splice) -> Edit:
    place = Range(layout.position(splice.start), layout.position(splice.end))
    return Edit(layout.source.locate(place), splice.content)


# ---------------------------------------------------------------- changes to splices


def _splices(layout: Layout, changes: Sequence[Change]) -> list[Splice]:
    """The splices of all changes in order of their places, none overlapping; claimed lines as one splice."""
    found: list[tuple[int, Splice]] = []
    claims: list[_Claim] = []
    for order, change in enumerate(_grouped(changes)):
        new, claimed = _of_change(layout, change)
        if claimed is not None:
            claims.append(_Claim(*claimed, frozenset(new)))
        found += [(order, one) for one in new]
    imports = [one for one in changes if isinstance(one, EnsureImport)]
    if imports:
        added = ensure_imports(layout, imports, list(_uses(layout, changes)))
        found += [(-1, one) for one in added]
    ordered = [one for _, one in sorted(found, key=lambda each: (each[1].start, each[1].end, each[0]))]
    _check_comments(layout, ordered)
    for claim in claims:
        ordered = _with_claim_whole(layout, ordered, claim)
    if any(other.start < one.end for one, other in pairwise(ordered)):
        raise Unfixable("two changes of one fix overlap")
    return ordered


def _grouped(changes: Sequence[Change]) -> Iterator[list[SetArgument] | Change]:
    """The changes in order, except imports; the arguments of one call together, where the first of them stands."""
    done: set[Range] = set()
    for change in changes:
        if isinstance(change, EnsureImport):
            continue
        if isinstance(change, SetArgument):
            if change.range not in done:
                done.add(change.range)
                yield [one for one in changes if isinstance(one, SetArgument) and one.range == change.range]
            continue
        yield change


def _of_change(layout: Layout, change: list[SetArgument] | Change) -> tuple[list[Splice], tuple[int, int] | None]:
    match change:
        case Replace():
            return _replaced(layout, change), None
        case InsertBefore():
            return insert_before(layout, change.range, change.statement), None
        case InsertAfter():
            return insert_after(layout, change.range, change.statement), None
        case Decorate():
            return decorate(layout, change.range, change.decorator), None
        case Wrap():
            splices, start, end = wrap(layout, change.first, change.last, change.header)
            return splices, (start, end)
        case WrapFollowing():
            splices, start, end = wrap_following(layout, change.first, change.header)
            return splices, (start, end)
        case list():
            pairs = [(one.name, one.text) for one in change]
            return set_arguments(layout, change[0].range, pairs), None
        case SetArgument() | EnsureImport():
            raise AssertionError(change)


def _replaced(layout: Layout, change: Replace) -> list[Splice]:
    start, end = layout.offset(change.range.start), layout.offset(change.range.end)
    if not change.text:
        deleted = delete(layout, change.range)
        if deleted is not None:
            return deleted
    return [] if layout.text[start:end] == change.text else [Splice(start, end, change.text)]


def _uses(layout: Layout, changes: Sequence[Change]) -> Iterator[Use]:
    for change in changes:
        match change:
            case EnsureImport():
                continue
            case Decorate(place, text):
                yield Use(layout.span(function_at(layout, place))[0], text, decorates=True)
            case Wrap(place, _, text) | WrapFollowing(place, text):
                yield Use(layout.offset(place.start), text, decorates=False)
            case Replace(place, text) | InsertBefore(place, text) | InsertAfter(place, text):
                yield Use(layout.offset(place.start), text, decorates=False)
            case SetArgument(place, _, text):
                yield Use(layout.offset(place.start), text, decorates=False)


def _with_claim_whole(layout: Layout, splices: Sequence[Splice], claim: _Claim) -> list[Splice]:
    """One splice for the claimed lines, with the changes of single places inside them."""
    inside: list[Splice] = []
    outside: list[Splice] = []
    for one in splices:
        meets = one.end >= claim.start and one.start <= claim.end
        above = one.start == one.end == claim.start and one.content.endswith("\n")
        below = one.start == one.end == claim.end and one.content.startswith("\n")
        own = one in claim.splices
        if not own and (above or below or not meets):
            outside.append(one)
        elif not own and ("\n" in one.content or one.start < claim.start or one.end > claim.end):
            raise Unfixable("lines inserted where a whole block is rewritten")
        else:
            inside.append(Splice(one.start - claim.start, one.end - claim.start, one.content))
    if any(other.start < one.end for one, other in pairwise(inside)):
        raise Unfixable("two changes of one fix overlap")
    whole = Splice(claim.start, claim.end, spliced(layout.text[claim.start : claim.end], inside))
    return sorted([*outside, whole], key=lambda one: (one.start, one.end))


# ---------------------------------------------------------------- proof


def _check_comments(layout: Layout, splices: Sequence[Splice]) -> None:
    """Every comment of a text that is replaced must be in the text that replaces it."""
    for one in splices:
        if "#" in layout.text[one.start : one.end]:
            piece = _piece(layout, one)
            remaining = iter(comments(piece.spliced(layout, [one])))
            if any(comment not in remaining for comment in comments(piece.spliced(layout, []))):
                raise Unfixable("a comment would be lost")


def _check_places(layout: Layout, splices: Sequence[Splice]) -> None:
    for one in splices:
        first, last = layout.row(one.start), layout.row(one.end)
        if layout.is_masked(first, last):
            raise Unfixable("a magic or a broken line")
        if layout.cell(first) != layout.cell(last):
            raise Unfixable("more than one cell")
        if layout.source.is_notebook and any("\f" in line for line in layout.lines[first - 1 : last]):
            raise Unfixable("a cell that IPython reads without its indentation")
        _check_format_strings(layout, one)


def _check_result(layout: Layout, splices: Sequence[Splice]) -> None:
    pieces: list[tuple[_Piece, list[Splice]]] = []
    for one in splices:
        piece, members = _piece(layout, one), [one]
        while pieces and piece.first <= pieces[-1][0].last:
            previous, others = pieces.pop()
            piece, members = piece.joined(previous), others + members
        pieces.append((piece, members))
    if not all(piece.parses(piece.spliced(layout, members)) for piece, members in pieces):
        raise Unfixable("the result does not parse")


class _Piece(NamedTuple):
    """Rows that are whole statements of one block: with others in their place the file parses if they do."""

    first: int
    last: int
    is_indented: bool

    def joined(self, other: _Piece) -> _Piece:
        for outer, inner in ((self, other), (other, self)):
            if outer.first <= inner.first and inner.last <= outer.last:
                return outer
        if self.is_indented or other.is_indented:
            raise Unfixable("statements of different blocks share lines")
        return _Piece(min(self.first, other.first), max(self.last, other.last), is_indented=False)

    def spliced(self, layout: Layout, splices: Sequence[Splice]) -> str:
        start, end = layout.line_start(self.first), layout.line_end(self.last)
        moved = [Splice(one.start - start, one.end - start, one.content) for one in splices]
        return spliced(layout.text[start:end], moved)

    def parses(self, text: str) -> bool:
        try:
            body = python_tree(f"if True:\n{text}" if self.is_indented else text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return not self.is_indented or len(body) == 1


def _piece(layout: Layout, splice: Splice) -> _Piece:
    """The fewest statements that hold a place: proving them is quicker than proving the file."""
    first, last = layout.row(splice.start), layout.row(splice.end)
    # A comment below a body belongs to the statement above it, but no statement's last row says so.
    while first > 1 and (not (line := layout.lines[first - 1].strip()) or line.startswith("#")):
        first -= 1
    # A line that is inserted below a block ends the statements in it.
    added = splice.content[1:]
    depth = len(added) - len(added.lstrip(" \t")) if splice.content.startswith("\n") else None
    found = _Piece(first, last, is_indented=False)
    pending = [layout.tree.body]
    while pending:
        block = pending.pop()
        met = layout.on_rows(block, first, last)
        if not met:
            continue
        begin, end = layout.first_row(met[0]), layout.last_row(met[-1])
        if block is layout.tree.body:
            found = _Piece(min(first, begin), max(last, end), is_indented=False)
        elif begin <= first and last <= end and layout.begins_line(met[0], at_most=depth):
            found = _Piece(begin, end, is_indented=True)
        else:
            continue
        pending = list(blocks(met[0], layout)) if len(met) == 1 else []
    return found


def _check_format_strings(layout: Layout, splice: Splice) -> None:
    """Below Python 3.12 a place inside an f-string is not to be trusted; above, older versions must read the result."""
    for node in _format_strings(layout, layout.position(splice.start)):
        start, end = layout.span(node)
        if start < splice.start < end or start < splice.end < end:
            if not PLACES_IN_FORMAT_STRINGS:
                raise Unfixable("inside an f-string")
            if any(one in splice.content for one in "\"'\\\n#"):
                raise Unfixable("a quote inside an f-string")


def _format_strings(layout: Layout, position: Position) -> Iterator[ast.expr]:
    """The outermost f-strings of the module's statements on a row."""
    row = position.row
    pending: list[ast.AST] = [layout.tree]
    while pending:
        node = pending.pop()
        if isinstance(node, FORMAT_STRINGS):
            yield node
            continue
        pending.extend(_parts_on_row(layout, node, row))


def _parts_on_row(layout: Layout, node: ast.AST, row: int) -> Iterator[ast.AST]:
    """The nodes right inside a node that have a part on a row."""
    for _, value in ast.iter_fields(node):
        parts = cast("list[object]", value) if isinstance(value, list) else [value]
        if parts and isinstance(parts[0], ast.stmt):
            yield from layout.on_rows(cast("list[ast.stmt]", parts), row, row)
            continue
        for part in parts:
            if isinstance(part, ast.AST) and getattr(part, "lineno", row) <= row <= getattr(part, "end_lineno", row):
                yield part
