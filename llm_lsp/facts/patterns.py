"""What the patterns of a `match` statement bind."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from llm_lsp.facts.accumulation import Accumulation
from llm_lsp.facts.values import Object, Opaque, Tuple, Value

__all__ = ["Patterns"]


class Patterns(Accumulation):
    """Binds the names of patterns."""

    def bind_pattern(self, pattern: ast.pattern, subject: Value) -> None:
        """Bind the names of a pattern that matches the subject."""
        bind = _BIND.get(type(pattern))
        if bind is not None:
            bind(self, pattern, subject)

    def bind_whole(self, pattern: ast.MatchAs, subject: Value) -> None:
        matched = None
        if pattern.pattern is not None:
            matched = self.matched_by(pattern.pattern)
            self.bind_pattern(pattern.pattern, subject)
        if pattern.name is not None:
            self.bind_name(pattern.name, matched or subject)

    def bind_either(self, pattern: ast.MatchOr, subject: Value) -> None:
        for each in pattern.patterns:
            self.bind_pattern(each, subject)

    def bind_mapping(self, pattern: ast.MatchMapping, subject: Value) -> None:
        for key, inner in zip(pattern.keys, pattern.patterns, strict=True):
            self.bind_pattern(inner, self.item(subject, self.evaluate(key), pattern))
        if pattern.rest is not None:
            self.bind_name(pattern.rest, Opaque(None, self.flow(subject)))

    def bind_instance(self, pattern: ast.MatchClass, subject: Value) -> None:
        for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            self.bind_pattern(inner, self.attribute(subject, name, pattern))
        for inner in pattern.patterns:
            self.bind_pattern(inner, Opaque(None, self.flow(subject)))

    def bind_sequence(self, pattern: ast.MatchSequence, subject: Value) -> None:
        held = self.heap.get((subject.id, "items")) if isinstance(subject, Object) else subject
        known = held.items if isinstance(held, Tuple) and len(held.items) == len(pattern.patterns) else None
        if any(isinstance(inner, ast.MatchStar) for inner in pattern.patterns):
            known = None
        for index, inner in enumerate(pattern.patterns):
            self.bind_pattern(inner, known[index] if known is not None else Opaque(None, self.flow(subject)))

    def bind_rest(self, pattern: ast.MatchStar, subject: Value) -> None:
        if pattern.name is not None:
            self.bind_name(pattern.name, Opaque(None, self.flow(subject)))

    def matched_by(self, pattern: ast.pattern) -> Value | None:
        """The constants that a pattern matches, if it matches nothing else."""
        patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        values = [self.evaluate(each.value) for each in patterns if isinstance(each, ast.MatchValue)]
        return self.join_all(values) if values and len(values) == len(patterns) else None


_BIND: dict[type[ast.pattern], Callable[[Patterns, Any, Value], None]] = {
    ast.MatchAs: Patterns.bind_whole,
    ast.MatchOr: Patterns.bind_either,
    ast.MatchMapping: Patterns.bind_mapping,
    ast.MatchClass: Patterns.bind_instance,
    ast.MatchSequence: Patterns.bind_sequence,
    ast.MatchStar: Patterns.bind_rest,
}
