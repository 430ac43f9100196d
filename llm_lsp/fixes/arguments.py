"""One more item in a list that already stands in the text: keywords of a call, names of an import."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from llm_lsp.diagnostic import Range
from llm_lsp.fixes.layout import Layout, Splice, Token, Unfixable

__all__ = ["append", "prepend", "set_arguments"]


def set_arguments(layout: Layout, place: Range, arguments: Sequence[tuple[str, str]]) -> list[Splice]:
    """The call at `place` with these keywords: values replaced, or keywords added before a final `**`."""
    placed = layout.holder(place)
    call = _call_at(layout, placed.statement, place)
    splices: list[Splice] = []
    added: list[str] = []
    for name, value in arguments:
        present = next((one for one in call.keywords if one.arg == name), None)
        if present is None:
            added.append(f"{name}={value}")
        elif layout.text[slice(*layout.span(present.value))] != value:
            splices.append(Splice(*layout.span(present.value), value))
    if added:
        splices += _added(layout, call, layout.start(placed.statement), added)
    return splices


def _call_at(layout: Layout, statement: ast.stmt, place: Range) -> ast.Call:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and node.lineno == place.start.row and layout.source.range_of(node) == place:
            return node
    raise Unfixable("no call there")


def _added(layout: Layout, call: ast.Call, start: int, items: Sequence[str]) -> list[Splice]:
    end = layout.span(call)[1]
    tokens = layout.tokens(start, end)
    opening = _opening(tokens, end)
    arguments = sorted([*map(layout.span, call.args), *map(layout.span, call.keywords)])
    if not arguments:
        return [Splice(opening + 1, opening + 1, ", ".join(items))]
    if not call.keywords and isinstance(call.args[-1], ast.GeneratorExp) and arguments[0][0] == opening:
        at = _last_code(tokens, end - 1).end
        return [Splice(opening + 1, opening + 1, "("), Splice(at, at, "), " + ", ".join(items))]
    unpacked = {layout.span(one)[0] for one in call.keywords if one.arg is None}
    first_unpacked: int | None = None
    for begin, _ in reversed(arguments):
        if begin not in unpacked:
            break
        first_unpacked = begin
    if first_unpacked is not None:
        return prepend(layout, first_unpacked, items)
    return append(layout, tokens, end - 1, _begin(tokens, arguments[-1][0], opening), items)


def _opening(tokens: Sequence[Token], end: int) -> int:
    """The bracket that the one before `end` closes."""
    depth = 0
    if not tokens or tokens[-1].text != ")" or tokens[-1].end != end:
        raise Unfixable("the call's brackets are out of sight")
    for one in reversed(tokens):
        if one.kind != "OP":
            continue
        if one.text in {")", "]", "}"}:
            depth += 1
        elif one.text in {"(", "[", "{"}:
            depth -= 1
            if not depth:
                return one.start
    raise Unfixable("the call's brackets do not match")


def _begin(tokens: Sequence[Token], start: int, opening: int) -> int:
    """Where an item begins when it may stand in brackets of its own, or behind a star."""
    begin = start
    for one in reversed(tokens):
        if opening < one.start < start and one.kind != "COMMENT":
            if one.text != "(":
                break
            begin = one.start
    return begin


def _last_code(tokens: Sequence[Token], end: int) -> Token:
    return [one for one in tokens if one.end <= end and one.kind != "COMMENT"][-1]


def append(
    layout: Layout, tokens: Sequence[Token], end: int, last: int, items: Sequence[str], *, lines: bool = True
) -> list[Splice]:
    """Items after the last one, which begins at `last`, in a list that ends at `end`.

    They get lines of their own where the last item has one and `lines` allows it; a final comma stays final.
    """
    before = _last_code(tokens, end)
    comma = before.text == ","
    indentation = _own_line(layout, last) if lines else None
    if indentation is None:
        text = ", ".join(items)
        return [Splice(before.end, before.end, f" {text}," if comma else f", {text}")]
    text = "".join(f"\n{indentation}{item}," for item in items)
    text = text if comma else text[:-1]
    row = layout.row(before.end)
    at = layout.line_end(row) if layout.row(end) > row else before.end
    if at == before.end:
        return [Splice(at, at, text if comma else "," + text)]
    return [*([] if comma else [Splice(before.end, before.end, ",")]), Splice(at, at, text)]


def prepend(layout: Layout, at: int, items: Sequence[str], *, lines: bool = True) -> list[Splice]:
    """Items before the one that begins at `at`."""
    indentation = _own_line(layout, at) if lines else None
    between = ", " if indentation is None else f",\n{indentation}"
    return [Splice(at, at, "".join(item + between for item in items))]


def _own_line(layout: Layout, start: int) -> str | None:
    """The blanks before an item that begins its line."""
    row = layout.row(start)
    before = layout.text[layout.line_start(row) : start]
    return None if before.strip() else before.rpartition("\f")[2]
