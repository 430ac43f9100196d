"""What the interpreter writes down while it runs: frames and calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from llm_lsp.facts.store import Changes, Store
from llm_lsp.facts.values import ANYTHING, NOTHING, Condition, Constant, Function, Object, Sources, Tuple, Value
from llm_lsp.named_tuples import NamedTuple

__all__ = ["NO_ARGUMENTS", "Arguments", "CallRecord", "Frame", "HeldParts", "Iteration", "Labels"]


class Arguments:
    """The values that a call passes."""

    __slots__ = ("is_complete", "keywords", "positional", "spread")

    def __init__(
        self,
        positional: list[Value],
        keywords: dict[str, Value],
        spread: tuple[Value, ...] = (),
        *,
        is_complete: bool = True,
    ) -> None:
        self.positional = positional
        self.keywords = keywords
        self.spread = spread
        """What was passed by `*` or `**` and could not be taken apart."""
        self.is_complete = is_complete
        """False if `spread` may hold any further argument."""

    def values(self) -> Sequence[Value]:
        """Everything that is passed."""
        if self.keywords or self.spread:
            return [*self.positional, *self.keywords.values(), *self.spread]
        return self.positional

    def get(self, name: str, position: int | None = None) -> Value | None:
        """The argument, however it was passed; None where it is absent or may hide in `spread`."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None


NO_ARGUMENTS = Arguments([], {})


class Frame:
    """One activation of a function, a class body or the module."""

    __slots__ = (
        "call",
        "depth",
        "function",
        "guards",
        "id",
        "is_of_script",
        "locals",
        "loops",
        "mark",
        "outer",
        "parent",
        "receiver",
        "returns",
        "root",
        "scope",
    )

    def __init__(
        self,
        id: int,
        function: Function | None,
        call: ast.AST | None,
        parent: Frame | None,
        scope: int,
        variables: Store,
    ) -> None:
        self.id = id
        self.function = function
        self.call = call
        """The call expression that entered it; None for the module and for roots."""
        self.parent = parent
        """The frame that called."""
        self.scope = scope
        """The id of the frame in which the function was defined; -1 for the module."""
        self.locals = variables
        self.outer: frozenset[str] = frozenset()
        """Names declared `global` or `nonlocal`."""
        self.returns: list[tuple[Value, Changes, tuple[Condition, ...]]] = []
        """What was returned or yielded, what had changed until then, and under which tests of this function."""
        self.mark = 0
        """The trail's mark when the body began."""
        self.receiver: Value | None = None
        self.guards: tuple[Condition, ...] = ()
        self.loops: tuple[ast.AST, ...] = ()
        self.depth: int = 0 if parent is None else parent.depth + 1
        """How many calls lead here."""
        self.root: Frame = self if parent is None else parent.root
        """The module, or the function that nobody calls, that leads here."""
        self.is_of_script = self.root.function is None
        """Whether the module itself leads here."""

    def runs(self, node: ast.AST) -> bool:
        """Whether the function defined at `node` is running, here or further out."""
        frame: Frame | None = self
        while frame is not None:
            if frame.function is not None and frame.function.node is node:
                return True
            frame = frame.parent
        return False

    @property
    def is_in_a_branch(self) -> bool:
        """Whether a test of this activation decided that what runs now is reached."""
        return len(self.guards) > (len(self.parent.guards) if self.parent is not None else 0)

    def chain(self) -> list[Frame]:
        """This frame and those that led to it, innermost first."""
        frames: list[Frame] = []
        frame: Frame | None = self
        while frame is not None:
            frames.append(frame)
            frame = frame.parent
        return frames


class CallRecord:
    """One call on one chain of frames."""

    __slots__ = (
        "arguments",
        "autocast",
        "flow",
        "frame",
        "gradients",
        "guards",
        "id",
        "is_resolved",
        "loops",
        "name",
        "node",
        "receiver",
        "result",
        "state",
    )

    def __init__(
        self,
        id: int,
        node: ast.AST,
        name: str,
        receiver: Value | None,
        arguments: Arguments,
        frame: Frame,
        gradients: Value,
        autocast: Value,
    ) -> None:
        self.id = id
        self.node = node
        self.name = name
        """A qualified name, a bare method name for a method, "()" for a call of an object itself."""
        self.receiver = receiver
        self.arguments = arguments
        self.frame = frame
        self.gradients = gradients
        self.autocast = autocast
        self.guards = frame.guards
        self.loops = frame.loops
        self.is_resolved = True
        """False if what is called is not known and may therefore do anything."""
        self.result: Value = ANYTHING
        self.state: dict[str, Value] = {}
        """Of a model that is called: its `dtype`, `device` and `training` at that moment; of a
        tokenizer, what is set on it, or the tokens that it is given."""
        self.flow: Sources = NOTHING
        """Of a call that runs or trains a model: what the arguments were computed from, what containers held then included."""


class Iteration(NamedTuple):
    """One time that something is run through, inside a loop."""

    node: ast.expr
    """What is run through, as it is written."""
    value: Value
    frame: Frame
    loops: tuple[ast.AST, ...]
    """The loops around it, the outermost first."""
    is_by_hand: bool = False
    """Whether `iter` only begins it, and `next` goes on in the rounds of the loop."""


def constant(value: Value | None) -> object | None:
    """The value that is certainly written, or None."""
    return value.value if isinstance(value, Constant) else None


class HeldParts(NamedTuple):
    """A plain container that is an attribute of a module of the program."""

    owner: Object
    name: str
    holder: Object | Tuple
    parts: list[Value]
    """What it holds, or is given later; of containers in it, what they hold."""
    target: ast.Attribute | None
    """The attribute as it is written where the container is stored, in a method or in a function that is given the module."""


class Labels(NamedTuple):
    """What is stored under the key "labels", or passed to a model as such."""

    node: ast.AST
    """The expression that gives it, or the target that it is assigned to."""
    owner: Sources
    """What it is stored together with was computed from this."""
    value: Value
    flow: Sources
    ids: Sources | None
    """What the ids were computed from, if the value is ids and nothing else."""
