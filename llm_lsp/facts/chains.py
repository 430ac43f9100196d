"""Faults that only some of the chains of callers have which lead to a place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.views import Call

__all__ = ["way", "where_all_chains_agree"]


def way(call: Call) -> list[ast.AST]:
    """The calls that lead to this one, itself first."""
    nodes = [call.record.node]
    nodes += [frame.call for frame in call.record.frame.chain() if frame.call is not None]
    return nodes


def where_all_chains_agree(
    facts: Facts, calls: Iterable[Call], is_faulty: Callable[[Call], bool], *, in_this_module: bool
) -> Iterator[tuple[Call, Place]]:
    """The faulty calls, each with the innermost place that only faulty chains come through."""
    faulty = [call for call in calls if is_faulty(call)]
    if not faulty:
        return
    known = {(call.record.node, call.name) for call in faulty}
    ids = {call.record.id for call in faulty}
    innocent = [
        way(call)
        for call in facts.calls(*{call.name for call in faulty})
        if (call.record.node, call.name) in known and call.record.id not in ids
    ]
    seen: set[tuple[int, int]] = set()
    for call in faulty:
        for node in way(call):
            is_here = not in_this_module or facts.source_of(node) is facts.source
            if is_here and not any(node in way for way in innocent):
                place = facts.place(node)
                key = (place.range.start.row, place.range.start.column)
                if key not in seen:
                    seen.add(key)
                    yield call, place
                break
