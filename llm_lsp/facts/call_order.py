"""The order in which the functions of a module run by themselves."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Mapping

from llm_lsp.facts.values import Function
from llm_lsp.snippets import words

__all__ = ["callers_first"]

_OWN_MEMBER = re.compile(r"self\.(\w+)")
_MOST_FUNCTIONS = 500
"""Of a module, methods apart, whose calls are looked for: those of each in the text of all others."""


def callers_first(functions: Collection[Function], texts: Mapping[ast.AST, str]) -> dict[ast.AST, int]:
    """A number for each function, lower for callers than for what they call: what they enter need not run by itself.

    Running first what is called, and then again from its caller, was a fifth of all the work on trl.

    Args:
        functions: of one module.
        texts: of them, by their nodes. Calls are looked for there: what they hide only costs time.
    """
    called = _called(functions, texts)
    callers = Counter(callee for callees in called.values() for callee in callees)
    turns: dict[ast.AST, int] = {}
    # What nobody calls; then, of those that call each other, the first one.
    for first in (*(node for node in texts if not callers[node]), *texts):
        ready = [first]
        while ready:
            node = ready.pop()
            if node in turns:
                continue
            turns[node] = len(turns)
            for callee in called[node]:
                callers[callee] -= 1
                ready += [] if callers[callee] else [callee]
    return turns


def _called(functions: Collection[Function], texts: Mapping[ast.AST, str]) -> dict[ast.AST, list[ast.AST]]:
    """What each function calls by a name of the module, or on `self`."""
    times = Counter(words("\n".join(texts.values())))
    named = [one for one in functions if one.owner is None]
    # Once is the definition.
    named = [one for one in named if times[one.name.encode()] > 1] if len(named) <= _MOST_FUNCTIONS else []
    called: dict[ast.AST, list[ast.AST]] = {}
    for function in functions:
        text, owner = texts[function.node], function.owner
        names = dict.fromkeys(_OWN_MEMBER.findall(text)) if owner is not None else ()
        members = [owner.find(name) for name in names] if owner is not None else []
        callees = [member.node for member in members if isinstance(member, Function) and member.node in texts]
        callees += [one.node for one in named if f"{one.name}(" in text]
        called[function.node] = [node for node in dict.fromkeys(callees) if node is not function.node]
    return called
