"""The roots from which a program runs besides its script: the functions that nothing in the module calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from llm_lsp.facts.call_order import callers_first
from llm_lsp.facts.events import Arguments, Frame
from llm_lsp.facts.interpreter import Interpreter
from llm_lsp.facts.machine import AUTOCAST, GRADIENTS, OFF
from llm_lsp.facts.store import Changes
from llm_lsp.facts.values import ANYTHING, Class, Constant, Function, Object, Opaque, Symbol, Value, ids_of_objects
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.source import Source

__all__ = ["LONG", "Roots"]

LONG = 10_000
"""Characters of a module, some 250 lines."""
_STORES_CONTAINER = re.compile(r"\bself\.\w+(: [^=\n]+)? = (\[|\{|\(|list\(|dict\()|^ +\w+ = [\[{]", re.MULTILINE)
"""A plain container that becomes an attribute, or may become one."""


class Roots(Interpreter):
    """Runs, after the script, every function that nothing in the module calls."""

    __slots__ = (
        "idle",
        "initialised",
        "instances",
        "turns",
    )

    def __init__(self, source: Source, stop: Callable[[], bool] | None) -> None:
        super().__init__(source, stop)
        self.instances: dict[ast.AST, Object] = {}
        self.initialised: set[int] = set()
        """The instances whose `__init__` has run."""
        self.idle: dict[ast.AST, str] = {}
        """Functions of a long module that are not worth running by themselves, with their text."""
        self.turns: dict[ast.AST, int] = {}
        """When each function runs that was there after the script: callers before what they call."""

    def run_roots(self) -> None:
        """Run every function that nothing has called so far."""
        mark = self.trail.mark()
        lines = self.text.split("\n")
        texts: dict[ast.AST, str] = {}
        for node, function in self.functions.items():
            texts[node] = "\n".join(lines[function.node.lineno - 1 : function.node.end_lineno])
        self.idle = self.idle_functions(texts)
        self.turns = callers_first(self.functions.values(), texts)
        while self.is_complete:
            waiting = [
                function for node, function in self.functions.items() if node not in self.idle and self.is_waiting(node)
            ]
            if not waiting:
                break
            waiting.sort(key=self.precedence)
            for function in waiting:
                if function.node not in self.entered:
                    if function.owner is not None:
                        self.instance_of(function.owner)
                        mark = self.trail.mark()
                    known = self._last_id
                    self.run_with_inner(function)
                    left = self.left_behind(mark, known)
                    self.trail.undo(mark)
                    self.trail.redo(left)
                    self.trail.join_with_before(mark)
                    mark = self.trail.mark()
        # It may have run as a root before anybody was seen to hand it over, or be called by what was not run.
        # The latter has no words that switch gradients, but may enter what does.
        idle = "\n".join(text for node, text in self.idle.items() if "with " in text or self.functions[node].decorators)
        unknown: dict[int, bool] = {}
        for call in self.calls.values():
            root = call.frame.root
            if root.function is not None:
                if root.id not in unknown:
                    unknown[root.id] = (
                        self.is_handed_over(root.function)
                        or self.may_be_called_quietly(root.function)
                        or f"{root.function.name}(" in idle
                    )
                if unknown[root.id]:
                    call.gradients = ANYTHING
        if self.superseded:
            self.calls = {id: call for id, call in self.calls.items() if call.frame.root.id not in self.superseded}

    def idle_functions(self, texts: dict[ast.AST, str]) -> dict[ast.AST, str]:
        """What a long module could only spend time on: functions whose text speaks of nothing that a rule asks about.

        In trl that is 30 % of the statements of functions. Short modules are run whole, since there a model may be
        called by any name.
        """
        if len(self.text) < LONG:
            return {}
        words = [word for word in library.WORTH_RUNNING if word in self.snippets]
        return {
            node: text
            for node, text in texts.items()
            if not any(word in text for word in words)
            and not (self.is_of_a_module(node) and _STORES_CONTAINER.search(text))
        }

    def is_of_a_module(self, node: ast.AST) -> bool:
        """Whether a function is a method of a class of torch modules, whose layers may lie in the containers it stores."""
        owner = self.functions[node].owner
        return owner is not None and self.kind_of_class(owner) == "model"

    def may_be_called_quietly(self, function: Function) -> bool:
        """Whether a method of this name is called where gradients are off: of a base class, or of who knows what object."""
        return function.owner is not None and function.name in self.called_quietly

    def precedence(self, function: Function) -> tuple[bool, bool, int]:
        """What prepares comes first, then lambdas; callers come before what they call."""
        is_lambda = isinstance(function.node, ast.Lambda)
        return _is_preparation(function), not is_lambda, self.turns.get(function.node, len(self.turns))

    def run_with_inner(self, function: Function) -> None:
        """Run a root, and what it defines and nobody calls while its variables are there."""
        defined = len(self.functions)
        self.run_root(function)
        for inner in [*self.functions.values()][defined:]:
            if self.is_waiting(inner.node):
                self.run_with_inner(inner)

    def left_behind(self, mark: int, known: int) -> Changes:
        """What a root changed that other roots see: globals, and attributes of objects that were there before it.

        Modes and contexts are left out: what one function switches is not how another finds it. What it makes and leaves
        in a global is found as it is at the end.
        """
        found: Changes = {}
        module = self.frames[0].locals
        changes = self.trail.changes(mark)
        for key, change in changes.items():
            store, name = change[0], key[1]
            if store is module:
                found[key] = change
            elif store is self.heap:
                owner, attribute = cast("tuple[int, str]", name)
                if 0 <= owner <= known and not attribute.startswith("#"):
                    found[key] = change
        made = {value.id for _, value in found.values() if isinstance(value, Object) and value.id > known}
        for key, change in changes.items() if made else ():
            if change[0] is self.heap and cast("tuple[int, str]", key[1])[0] in made:
                found[key] = change
        return found

    def is_waiting(self, node: ast.AST) -> bool:
        if node in self.entered or any(wrapper.node is node for wrapper in self.wrappers.values()):
            return False
        return not isinstance(node, ast.Lambda) or node in self.handed_over

    def run_wrapped(self, function: Function, wrapper: Function) -> None:
        """A decorated function that nobody calls: what its decorators made of it is what would be called."""
        declared = function.node.args
        names = [*declared.posonlyargs, *declared.args, *declared.kwonlyargs]
        given: list[Value] = [self.parameter(name, function) for name in names]
        if given and function.owner is not None and not _is_static(function):
            given[0] = self.instance_of(function.owner)
        keywords = {name.arg: given.pop() for name in reversed(declared.kwonlyargs)}
        frame = self.new_frame(wrapper, None, None, wrapper.frame)
        self.bind_parameters(wrapper, Arguments(given, keywords), None, frame)
        self.finish_root(wrapper, frame)

    def run_root(self, function: Function) -> None:
        """A function that nobody in the program calls: its parameters are what their names and annotations say."""
        node = function.node
        wrapper = self.wrappers.get(node)
        if wrapper is not None and not self.is_handed_over(function):
            self.run_wrapped(function, wrapper)
            if node in self.entered:
                return
            # Nobody sees in which context, if at all, the wrapper calls it.
            self.handed_over[node] = True
        module = self.frame
        frame = self.new_frame(function, None, None, function.frame)
        self.entered[node] = 1
        self.roots[node] = frame.id
        self.frame = frame
        receiver: Value | None = None
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if function.owner is not None and arguments and not _is_static(function):
            is_initialiser = function.name == "__init__"
            receiver = (
                function.owner if _has_decorator(function, "builtins.classmethod") else self.instance_of(function.owner)
            )
            if is_initialiser:
                self.frame = module
                return
            frame.locals[arguments[0].arg] = receiver
            arguments = arguments[1:]
        frame.receiver = receiver
        for argument in arguments:
            frame.locals[argument.arg] = self.parameter(argument, function)
        for extra in (node.args.vararg, node.args.kwarg):
            if extra is not None:
                frame.locals[extra.arg] = self.outside(extra.arg, extra)
        if self.is_handed_over(function) or self.runs_without_gradients(function):
            self.heap[GRADIENTS] = ANYTHING if self.is_handed_over(function) else OFF
        if function.owner is not None and function.owner.bases and function.name in library.GRADIENT_HOOKS:
            # The library's precision setting decides.
            self.heap[AUTOCAST] = ANYTHING
        self.frame = module
        self.finish_root(function, frame)

    def finish_root(self, function: Function, frame: Frame) -> None:
        """Run it; what it returns, and what it kept, is for whoever calls it."""
        module = self.frame
        result = self.run(function, frame)
        if self.open_sums:
            self.keep_sums()
        self.results_of_roots[function.node] = result
        self.returned |= self.flow(result) | ids_of_objects(result)
        if not isinstance(result, Opaque):
            self.examine_lengths([result])
        if not _feeds_a_loader(function):
            self.hand_out(result)
        if (
            isinstance(function.node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and function.name in library.GRADIENT_HOOKS
        ):
            self.compute_gradients_of_returned(result, frame)
        self.frame = module

    def is_handed_over(self, function: Function) -> bool:
        return self.handed_over.get(function.node, False)

    def runs_without_gradients(self, function: Function) -> bool:
        """A hook that its library calls with gradients off."""
        if function.owner is None:
            return function.name in library.GRADIENTS_OFF_FUNCTIONS
        return function.name in library.GRADIENTS_OFF_HOOKS and bool(function.owner.bases)

    def parameter(self, argument: ast.arg, function: Function) -> Value:
        default = function.defaults.get(argument.arg)
        if isinstance(default, Constant) and default.value is not None and not isinstance(default.value, bool):
            return Constant(default.value, default.node, may=True)
        cls: str | Class | None = None
        if argument.annotation is not None:
            annotation = self.evaluate_annotation(argument.annotation)
            if isinstance(annotation, Symbol) and kind_of(library.canonical(annotation.name)) is not None:
                cls = library.canonical(annotation.name)
            elif isinstance(annotation, Symbol) and annotation.name in library.MODULE_BASES:
                cls = "torch.nn.Module"
            elif isinstance(annotation, Class):
                cls = annotation
        return self.outside(argument.arg, argument, cls)

    def evaluate_annotation(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.look_up(node.value)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.evaluate(node)
        return ANYTHING

    def instance_of(self, cls: Class) -> Object:
        """The instance that stands for all that are made elsewhere; its `__init__` has run."""
        made = self.instances.get(cls.node)
        if made is None and len(self.made.get(cls.node, ())) == 1:
            return self.made[cls.node][0]
        if made is None:
            self.frame, frame = self.frames[0], self.frame
            made = self.outside("self", cls.node, cls)
            self.instances[cls.node] = made
            self.frame = frame
        initialise = cls.find("__init__")
        if isinstance(initialise, Function) and made.id not in self.initialised:
            self.initialised.add(made.id)
            self.initialise(made, initialise)
        return made

    def initialise(self, made: Object, function: Function) -> None:
        """Run `__init__` with arguments from outside; the same ones for every method, so that uses add up."""
        frame, entered = self.frame, dict(self.entered)
        self.frame = self.frames[0]
        started = self.new_frame(function, None, None, function.frame)
        started.receiver = made
        self.frame = started
        arguments = [*function.node.args.posonlyargs, *function.node.args.args, *function.node.args.kwonlyargs]
        for index, argument in enumerate(arguments):
            started.locals[argument.arg] = made if index == 0 else self.parameter(argument, function)
        for extra in (function.node.args.vararg, function.node.args.kwarg):
            if extra is not None:
                started.locals[extra.arg] = self.outside(extra.arg, extra)
        self.frame = self.frames[0]
        self.run(function, started)
        self.entered = {**entered, function.node: 1}
        self.frame = frame


def _has_decorator(function: Function, name: str) -> bool:
    return any(isinstance(value, Symbol) and value.name == name for value in function.decorators)


def _is_static(function: Function) -> bool:
    return _has_decorator(function, "builtins.staticmethod")


def _feeds_a_loader(function: Function) -> bool:
    """Whether a loader takes what the function returns: nobody else looks at it."""
    if function.owner is None or function.name != "__getitem__":
        return function.name in library.LOADER_HOOKS
    return not library.DATASETS.isdisjoint(function.owner.library_bases())


def _is_preparation(function: Function) -> bool:
    """False, and so first, for functions that by their names prepare what the others use."""
    return not function.name.lstrip("_").startswith(
        ("setup", "lifespan", "startup", "load", "init", "build", "configure", "prepare", "setUp", "on_start")
    )
