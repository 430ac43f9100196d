"""The constants that arguments and states may be."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Position, Range
from llm_lsp.facts.guards import mention
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Condition, Constant, Value, options
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.views import Call

__all__ = ["Argument", "Choice", "constants_of", "is_part_of_call"]


class Choice:
    """One of the constants that an argument or a state may be, with the conditions under which it is the one."""

    __slots__ = ("_facts", "conditions", "is_default", "node", "value")

    def __init__(
        self, facts: Facts, value: object, node: ast.expr | None, conditions: tuple[Condition, ...], *, is_default: bool
    ) -> None:
        self._facts = facts
        self.value = value
        self.node = node
        self.conditions = conditions
        self.is_default = is_default
        """Whether a caller, a user or the environment may replace it."""

    @property
    def place(self) -> Place | None:
        """Where it was asked for, or where this module calls what asks for it; None where neither is known."""
        return None if self.node is None else self._facts.place_here(self.node)

    def is_guarded_by(self, *words: str) -> bool:
        """Whether a test that mentions one of the words decided that it is the one, or that it was asked for."""
        tests = [test for test, _ in self.conditions]
        if self.node is not None:
            for record in self._facts.machine.calls.values():
                if is_part_of_call(self.node, record.node):
                    tests += [test for test, _ in record.guards]
        return mention(self._facts, tests, words)

    @property
    def gpu_test(self) -> str | None:
        """`torch.cuda.is_available()`, as this program writes it, where that alone decides."""
        texts = [self._facts.text_of(test) for test, _ in self.conditions]
        return texts[0] if len(texts) == 1 and texts[0].endswith("cuda.is_available()") else None

    def written_as(self, dtype: str, *, inputs_follow: bool = False) -> tuple[Range, str] | None:
        """Where to write another floating-point type instead, and how; None where that isn't plain.

        It is plain where the module names this type in that one place: else inputs may be cast to it too, which does
        not matter if `inputs_follow` the weights, as under autocast.
        """
        within = self.node if inputs_follow and self.node is not None else self._facts.source.tree
        named = [node for node in ast.walk(within) if _names(node, self.value)]
        if self.node is None or len(named) != 1 or named[0] not in ast.walk(self.node):
            return None
        found = self._facts.place(named[0])
        if isinstance(named[0], ast.Constant):
            return found.range, found.text.replace(str(named[0].value), dtype)
        end = found.range.end
        width = len(found.text.rpartition(".")[2])
        return Range(Position(end.row, end.column - width), end), dtype

    def agrees_with(self, other: Choice) -> bool:
        """Whether both can hold at once: no test came out one way for this and the other way for that."""
        mine = {ast.unparse(test): came_out for test, came_out in self.conditions}
        return all(mine.get(ast.unparse(test), came_out) is came_out for test, came_out in other.conditions)


class Argument:
    """What is passed for one parameter of one call."""

    __slots__ = ("_call", "_position", "name", "value")

    def __init__(self, call: Call, name: str, position: int | None, value: Value) -> None:
        self._call = call
        self._position = position
        self.name = name
        self.value = value

    @property
    def place(self) -> Place | None:
        """The argument as it is written in the call, with its keyword; None if it came by `**`."""
        return self._call.places_of_argument(self.name, self._position)[0]

    @property
    def value_place(self) -> Place | None:
        """The same without the keyword."""
        return self._call.places_of_argument(self.name, self._position)[1]

    @property
    def constant(self) -> object | None:
        """The value that it certainly has, or None."""
        return self.value.value if isinstance(self.value, Constant) else None

    @property
    def is_true(self) -> Truth:
        """Whether it is a constant that counts as true."""
        return answer(
            UNKNOWN if not isinstance(self.value, Constant) or self.value.may else YES if self.value.value else NO
        )


def is_part_of_call(node: ast.AST, call: ast.AST) -> bool:
    """Whether it is the call itself, or what the call passes by a keyword."""
    return node is call or (isinstance(call, ast.Call) and any(node is keyword.value for keyword in call.keywords))


def _names(node: ast.AST, dtype: object) -> bool:
    """Whether the expression names the floating-point type: `torch.half`, `model.half()`, `"float16"`."""
    name = node.attr if isinstance(node, ast.Attribute) else node.value if isinstance(node, ast.Constant) else None
    return isinstance(name, str) and library.FLOAT_TYPES.get(f"torch.{name}") == dtype


def constants_of(value: Value) -> list[tuple[Constant, tuple[Condition, ...]]] | None:
    """The constants that a value may be, or None if something else may be too."""
    found: list[tuple[Constant, tuple[Condition, ...]]] = []
    for option, conditions in options(value):
        if not isinstance(option, Constant):
            return None
        found.append((option, conditions))
    return found
