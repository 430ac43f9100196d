"""What a rule sees of calls and objects: questions with names, answered with YES, NO or UNKNOWN where that is the answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.events import CallRecord, Frame
from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import OVERFLOW, Class, Condition, Constant, Object, Opaque, Symbol, Tuple, Value, options
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts

__all__ = ["Argument", "Call", "Choice", "Loaded"]


class Choice:
    """One of the constants that an argument or a state may be, with the conditions under which it is the one."""

    __slots__ = ("conditions", "is_default", "place", "value")

    def __init__(
        self, value: object, place: Place | None, conditions: tuple[Condition, ...], *, is_default: bool
    ) -> None:
        self.value = value
        self.place = place
        """Where it was asked for, where that is known."""
        self.conditions = conditions
        self.is_default = is_default
        """Whether a caller, a user or the environment may replace it."""

    def agrees_with(self, other: Choice) -> bool:
        """Whether both can hold at once: no test came out one way for this and the other way for that."""
        mine = {ast.unparse(test): came_out for test, came_out in self.conditions}
        return all(mine.get(ast.unparse(test), came_out) is came_out for test, came_out in other.conditions)


class Argument:
    """What is passed for one parameter of one call."""

    __slots__ = ("_facts", "place", "value")

    def __init__(self, facts: Facts, value: Value, place: Place | None) -> None:
        self._facts = facts
        self.value = value
        self.place = place
        """The argument as it is written in the call, with its keyword; None if it came by `**`."""

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


class Loaded:
    """A model or tokenizer that the program loads by name."""

    __slots__ = ("argument", "load", "names", "object")

    def __init__(self, object: Object, load: Call, argument: Argument, names: tuple[Choice, ...]) -> None:
        self.object = object
        self.load = load
        """The call of `from_pretrained`, or of `pipeline`."""
        self.argument = argument
        """The argument that names the checkpoint."""
        self.names = names
        """The names that it may be loaded by; all of them are known."""


class Call:
    """One call on one chain of callers."""

    __slots__ = ("_facts", "record")

    def __init__(self, facts: Facts, record: CallRecord) -> None:
        self._facts = facts
        self.record = record

    # ------------------------------------------------------------ where

    @property
    def name(self) -> str:
        """A qualified name; a bare name for a method; "()" for a call of an object itself."""
        return self.record.name

    @property
    def place(self) -> Place:
        return self._facts.place(self.record.node)

    @property
    def function_names(self) -> list[str]:
        """The functions that this call is in, innermost first."""
        return [frame.function.name for frame in self.record.frame.chain() if frame.function is not None]

    @property
    def is_in_a_forward(self) -> bool:
        """Whether a module's own `forward`, or a function that a library calls with a graph in hand, leads here."""
        for frame in self.record.frame.chain():
            function = frame.function
            if function is None:
                continue
            owner = function.owner
            if function.name.startswith("forward") and owner is not None:
                return True
            if owner is not None and function.name in library.GRADIENT_HOOKS and owner.bases:
                return True
        return False

    @property
    def is_in_a_loop(self) -> bool:
        return bool(self.record.loops)

    def is_guarded_by(self, *words: str) -> bool:
        """Whether a test that mentions one of the words decided that this call is reached."""
        return any(word in self._facts.text_of(test) for test, _ in self.record.guards for word in words)

    # ------------------------------------------------------------ what is passed

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """What is passed for a parameter; None where nothing is, or where that can't be seen."""
        value = self.record.arguments.get(name, position)
        return (
            None
            if value is None
            else Argument(self._facts, value, self._facts.place_of_argument(self.record.node, name, position))
        )

    def passes(self, *names: str) -> Truth:
        """Whether one of the keywords is passed."""
        arguments = self.record.arguments
        if any(name in arguments.keywords for name in names):
            return answer(YES)
        return answer(NO if arguments.is_complete else UNKNOWN)

    # ------------------------------------------------------------ context

    @property
    def gradients(self) -> Truth:
        """Whether torch records operations for a backward pass here."""
        return answer(_switch(self.record.gradients))

    @property
    def autocast(self) -> Truth:
        return answer(_switch(self.record.autocast))

    @property
    def is_in_evaluation_mode(self) -> Truth:
        """Whether the model that is called was put, or comes, in evaluation mode."""
        training = self.record.state.get("training")
        truth = _switch(training) if training is not None else UNKNOWN
        return answer({YES: NO, NO: YES, UNKNOWN: UNKNOWN}[truth])

    def states(self, name: str) -> list[Choice]:
        """The constants that the called model's `dtype` or `device` may be now; empty if something else may be too."""
        value = self.record.state.get(name)
        return [] if value is None else self._facts.choices(value)

    # ------------------------------------------------------------ where the result goes

    @property
    def reaches_gradient(self) -> Truth:
        """Whether somebody computes gradients of what this call returns."""
        machine, id = self._facts.machine, self.record.id
        if id in machine.reached_gradient:
            return answer(YES)
        is_lost = id in machine.escaped or id in machine.returned or OVERFLOW in machine.reached_gradient
        return answer(UNKNOWN if is_lost or not machine.is_complete else NO)

    @property
    def is_only_returned(self) -> Truth:
        """Whether the one thing unknown of the result is what an unknown caller does with it."""
        machine, id = self._facts.machine, self.record.id
        if id in machine.reached_gradient or id in machine.escaped or not machine.is_complete:
            return answer(NO)
        return answer(YES if id in machine.returned else NO)

    @property
    def length_is_examined(self) -> Truth:
        """Whether the program looks at how long the text that goes in, or what comes out, is."""
        machine = self._facts.machine
        sources = {self.record.id}
        for value in self.record.arguments.values():
            sources |= machine.flow(value)
        if sources & machine.length_examined:
            return answer(YES)
        return answer(UNKNOWN if self.record.id in machine.escaped else NO)

    @property
    def model(self) -> Loaded | None:
        """The model that is called, where its checkpoint is known."""
        receiver = self.record.receiver
        return self._facts.loaded(receiver) if isinstance(receiver, Object) else None

    def tokenizers(self) -> Iterator[tuple[Object, Place]]:
        """The tokenizers whose output, or which themselves, are passed here, each with the place where it is used."""
        return self._facts.tokenizers_in(self.record.arguments.values())


def _switch(value: Value) -> Truth:
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return YES if value.value else NO
    return UNKNOWN


def constants_of(value: Value) -> list[tuple[Constant, tuple[Condition, ...]]] | None:
    """The constants that a value may be, or None if something else may be too."""
    found: list[tuple[Constant, tuple[Condition, ...]]] = []
    for option, conditions in options(value):
        if not isinstance(option, Constant):
            return None
        found.append((option, conditions))
    return found


__all__ += ["Class", "Frame", "Opaque", "Symbol", "Tuple", "constants_of"]
