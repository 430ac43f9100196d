"""Methods of the program that stand for one of a library's trainer, which calls them in its own way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Position, Range
from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Function

if TYPE_CHECKING:
    from llm_lsp.facts import Facts

__all__ = ["Override", "overrides"]

_CALLS_IT = ("training_step", "_inner_training_loop", "train")
"""Methods of a trainer from which it calls `compute_loss`; a program that has its own calls it as it likes."""


class Override:
    """A method of a class of the program, by the name of one of a library's trainer."""

    __slots__ = ("_cls", "_facts", "_node")

    def __init__(self, facts: Facts, node: ast.FunctionDef, cls: Class) -> None:
        self._facts = facts
        self._node = node
        self._cls = cls

    @property
    def place(self) -> Place:
        """The method's name, where it is defined."""
        whole = self._facts.place(self._node)
        column = whole.range.start.column + len("def ")
        start = Position(whole.range.start.row, column)
        return Place(whole.path, Range(start, Position(start.row, column + len(self._node.name))), self._node.name)

    def takes(self, parameter: str) -> Truth:
        """Whether it can be passed by name: it is declared, or anything is taken, or decorators decide."""
        declared = self._node.args
        names = {one.arg for one in (*declared.args, *declared.kwonlyargs)}
        if parameter in names or declared.kwarg is not None:
            return answer(YES)
        return answer(UNKNOWN if self._node.decorator_list else NO)

    @property
    def is_called_by_its_library(self) -> Truth:
        """Whether the trainer calls it, and no method of the program that stands between."""
        own = [member for name in _CALLS_IT if (member := self._cls.find(name)) is not None]
        stands_between = any(
            not isinstance(member, Function) or f"super().{member.name}(" not in self._facts.text_of(member.node)
            for member in own
        )
        return answer(UNKNOWN if stands_between else YES)

    @property
    def end_of_parameters(self) -> Range | None:
        """Behind the last parameter; None where it has none."""
        declared = self._node.args
        parts = [*declared.posonlyargs, *declared.args, *declared.kwonlyargs, *declared.defaults]
        parts += [part for part in (*declared.kw_defaults, declared.vararg) if part is not None]
        ends = [self._facts.place(part).range.end for part in parts]
        return Range(max(ends), max(ends)) if ends else None


def overrides(facts: Facts, method: str) -> Iterator[Override]:
    """The methods of this name in classes of this module that a trainer of transformers or trl is a base of."""
    for node, function in facts.machine.functions.items():
        cls = function.owner
        if cls is None or function.name != method or not isinstance(node, ast.FunctionDef):
            continue
        is_trainer = any(
            base.startswith(("transformers.", "trl.")) and base.endswith("Trainer") for base in cls.library_bases()
        )
        if is_trainer:
            yield Override(facts, node, cls)
