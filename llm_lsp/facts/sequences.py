"""Ids of tokens and texts as they are cut and put together: prompts, answers, labels."""

from __future__ import annotations

import ast

from llm_lsp.facts.events import Arguments, Labels
from llm_lsp.facts.flow import Flow
from llm_lsp.facts.values import NOTHING, Constant, Object, Opaque, Sources, Value, options, union_of_sources
from llm_lsp.knowledge import library

__all__ = ["Sequences", "is_ids", "moved"]

_DEEPEST_CHILD = 4


class Sequences(Flow):
    """Writes down what becomes of sequences whose positions matter."""

    __slots__ = ()

    # ------------------------------------------------------------ prompts and answers

    def note_trimming(self, value: Value, node: ast.Subscript) -> None:
        """`output[n:]`: written down as a call, with the number that it begins at."""
        sources = self.flow(value)
        self.trimmed |= sources
        part = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
        start = part.lower if isinstance(part, ast.Slice) else None
        if start is not None and sources and not isinstance(start, (ast.Constant, ast.UnaryOp)):
            self.record(node, "[n:]", None, Arguments([], {"start": self.evaluate(start)})).flow = sources

    def note_comparison(self, values: list[Value]) -> None:
        """A text that a model has written is compared with one that isn't written by the program, nor by a model."""
        flows = [self.flow(value) for value in values]
        is_decoded = [any(id in self.calls and "decode" in self.calls[id].name for id in flow) for flow in flows]
        if is_decoded.count(True) == 1 and not any(type(value) is Constant for value in values):
            self.answered |= flows[is_decoded.index(True)]

    def said_in(self, made: Object, keys: list[object]) -> Sources:
        """What a dictionary holds as an answer: of a message that the assistant speaks, or by its name."""
        role = self.heap.get((made.id, "['role']")) if "role" in keys else None
        names = ["content"] if isinstance(role, Constant) and role.value == "assistant" else []
        names += [name for name in keys if name in library.ANSWERS]
        held = (self.heap.get((made.id, f"[{name!r}]")) for name in names)
        return union_of_sources(value for value in held if value is not None) if names else NOTHING

    # ------------------------------------------------------------ labels

    def all_but_one(self, value: Value, part: Value, node: ast.Subscript) -> Value:
        """`ids[1:]` or `ids[:, :-1]`: written down as a call, so that it is seen how labels stand to their ids."""
        name = moved(node.slice)
        if name is None or not isinstance(part, (Opaque, Object)):
            return part
        call = self.record(node, name, None, Arguments([], {}))
        call.flow = self.flow(value)
        cls, made = (part.cls, part.call) if isinstance(part, Opaque) else (None, None)
        return Opaque(cls, self.flow(part) | call.flow | {call.id}, made)

    def label(self, node: ast.AST, written: ast.AST, owner: Value, value: Value) -> None:
        """Write down that `value` is stored under the key "labels", with what containers hold at this moment."""
        stored = Labels(written, self.flow(owner), value, self.flow(value), self.ids_in(value))
        self.labelled[self.site(node, "labels")] = stored

    def ids_in(self, value: Value, depth: int = 0) -> Sources | None:
        """What the ids were computed from, if the value is ids and nothing else."""
        found: Sources = NOTHING
        for option, _ in options(value):
            inner: Value | None = None
            if is_ids(option):
                found |= option.sources
                continue
            if isinstance(option, Opaque) and option.call in self.calls and option.cls in library.KEEPS_IDS:
                inner = next(iter(self.calls[option.call].arguments.positional), None)
            elif isinstance(option, Object) and option.cls == "builtins.list":
                inner = self.heap.get((option.id, "each"))
            held = self.ids_in(inner, depth + 1) if inner is not None and depth < _DEEPEST_CHILD else None
            if held is None:
                return None
            found |= held
        return found


def moved(part: ast.expr) -> str | None:
    """Whether a slice leaves out the first of its last dimension, or the last, and nothing else."""
    last = part.elts[-1] if isinstance(part, ast.Tuple) and part.elts else part
    if not isinstance(last, ast.Slice) or last.step is not None:
        return None
    lower, upper = last.lower, last.upper
    if isinstance(lower, ast.Constant) and lower.value == 1 and upper is None:
        return "[1:]"
    is_last = (
        isinstance(upper, ast.UnaryOp) and isinstance(upper.op, ast.USub) and isinstance(upper.operand, ast.Constant)
    )
    is_one = isinstance(upper, ast.UnaryOp) and isinstance(upper.operand, ast.Constant) and upper.operand.value == 1
    return "[:-1]" if lower is None and is_last and is_one else None


def is_ids(value: Value) -> bool:
    """Whether it holds the ids of tokens."""
    return isinstance(value, Opaque) and value.cls == library.ENCODING
