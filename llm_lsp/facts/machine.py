"""The state of the abstract interpreter: frames, the heap, identities, and what was seen on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from llm_lsp.facts.events import Arguments, CallRecord, Frame, HeldParts, Iteration, Labels
from llm_lsp.facts.store import Changes, Store, Trail
from llm_lsp.facts.values import (
    ANYTHING,
    Class,
    Condition,
    Constant,
    Function,
    Imported,
    Module,
    Object,
    Opaque,
    Tuple,
    Value,
    join,
    options,
)

if TYPE_CHECKING:
    from llm_lsp.facts.accumulation import Sum
    from llm_lsp.facts.gradients import Differentiated
    from llm_lsp.source import Source

__all__ = ["DEFAULT_DTYPE", "GRADIENTS", "OFF", "ON", "Machine", "Stopped"]

ON, OFF = (Constant(value) for value in (True, False))
GRADIENTS = (-1, "gradients")
AUTOCAST = (-1, "autocast")
DEFAULT_DTYPE = (-1, "default dtype")
_MOST_STEPS = 400_000
_STEPS_BETWEEN_LOOKS = 256


class Stopped(Exception):  # noqa: N818 - no error: an answer that nobody wants any more
    """Somebody no longer wants the answer."""


class Machine:
    """What the evaluation of expressions, calls and statements shares."""

    __slots__ = (
        "_ids_of_sites",
        "_last_id",
        "_next_look",
        "_steps",
        "_stop",
        "adapted",
        "answered",
        "attentions_read",
        "called_quietly",
        "calls",
        "children",
        "children_of",
        "classes",
        "come_round",
        "constants",
        "contexts",
        "cut",
        "deferred",
        "derived",
        "differentiated",
        "entered",
        "escaped",
        "frame",
        "frames",
        "frames_by_site",
        "frames_reading_gradients",
        "frozen",
        "functions",
        "graph_ids",
        "handed_out",
        "handed_over",
        "has_coroutines",
        "has_decodes",
        "has_keys",
        "has_labels",
        "has_optimizers",
        "has_samplers",
        "has_star_import",
        "has_tensors",
        "heap",
        "held",
        "held_parts",
        "is_complete",
        "is_half_typed",
        "iterations",
        "kept_sums",
        "labelled",
        "layers_given",
        "left_in_evaluation",
        "length_examined",
        "made",
        "measured",
        "open_sums",
        "overwritten",
        "parts",
        "parts_of_held",
        "put_in_evaluation",
        "reached_gradient",
        "results_of_roots",
        "returned",
        "returned_together",
        "roots",
        "shifted",
        "sliced",
        "snippets",
        "sums",
        "superseded",
        "switched_by",
        "switched_in_a_branch",
        "switches",
        "text",
        "trail",
        "tree",
        "tried",
        "trimmed",
        "uses",
        "wrappers",
        "written",
        "yielded",
        "yields",
    )

    def __init__(self, source: Source, stop: Callable[[], bool] | None) -> None:
        self.tree = source.tree
        self.text = source.text
        self.snippets = source.snippets
        self._stop = stop
        self._steps = 0
        self._next_look = _STEPS_BETWEEN_LOOKS
        self._last_id = 0
        self.is_complete = True
        """False once the budget is spent: absence is then unknown."""
        self.constants: dict[ast.Constant, Constant] = {}
        """What is written, made once for each place: much of it is evaluated again and again."""
        self.trail = Trail()
        self.heap = Store(self.trail)
        """Objects' attributes, modes and items, by the object's id."""
        self.heap[GRADIENTS], self.heap[AUTOCAST] = ON, OFF
        self.heap[DEFAULT_DTYPE] = Constant("float32")
        self.contexts: list[tuple[int, Value, Value]] = []
        """The trail's mark where each context that is open was entered, with what held before."""
        self.frames: list[Frame] = []
        self.frame = self.new_frame(None, None, None, -1)
        self.calls: dict[int, CallRecord] = {}
        self._ids_of_sites: dict[tuple[ast.AST, int, str], int] = {}
        self.frames_by_site: dict[int, tuple[Frame, ...]] = {}
        self.children: dict[tuple[int, str], Object] = {}
        self.children_of: dict[int, list[int]] = {}
        """The ids of the children of an outside object."""
        self.uses: dict[int, set[str]] = {}
        """Object to the names of the methods called on it, "()" for a call of itself."""
        self.graph_ids: set[int] = set()
        """Calls whose results may hold a graph of gradients."""
        self.reached_gradient: set[int] = set()
        self.differentiated: list[Differentiated] = []
        self.sums: dict[int, Sum] = {}
        """Additions, by the ids of their records, to what was there before the round of the loop that adds."""
        self.open_sums: dict[int, Sum] = {}
        """Those of them that are not kept, so far: the others need not be looked at after each round."""
        self.kept_sums: dict[int, frozenset[Condition]] = {}
        """Those of them whose result the next round finds, with the tests under which it finds something else."""
        self.parts: dict[tuple[int, object], tuple[Value, Opaque]] = {}
        """Parts of what is not followed, with their owners: the same each time they are read."""
        self.escaped: set[int] = set()
        self.returned: set[int] = set()
        self.length_examined: set[int] = set()
        self.measured: set[int] = set()
        """Sources of what was given to `len`."""
        self.sliced: set[int] = set()
        """Sources of what was taken apart by `[a:b]`."""
        self.cut: set[int] = set()
        """Sources of what was cut on purpose, by `[:n]`, or into pieces, by `[a:b]` of a text."""
        self.answered: set[int] = set()
        """Sources of what is compared with something, or stored as what an assistant says."""
        self.trimmed: set[int] = set()
        """Sources of what only the rest of was taken, by `[n:]` of a computed number: what is left of an output behind its prompt."""
        self.labelled: dict[int, Labels] = {}
        """What is stored under the key "labels"."""
        self.has_decodes = "decode(" in self.text
        self.has_keys = any(word in self.text for word in ("defaultdict", "Counter", "= {}", "dict()", "set()"))
        """Whether it matters what is a key of a dictionary."""
        self.has_tensors = (
            self.has_keys
            or ".numpy(" in self.text
            or (".append(" in self.text and ("hidden_states" in self.text or "logits" in self.text))
        )
        """Whether it matters what becomes of the tensors that a model gives."""
        self.derived: dict[int, tuple[Value, str, tuple[Value, ...]]] = {}
        """Tensors, by the ids of their values, with how and of what they were computed, where no call of theirs says so."""
        self.has_labels = "labels" in self.text
        """Whether it matters by how much sequences are moved against each other."""
        self.shifted: set[int] = set()
        """The calls that gave what all but the first of a sequence was written into, one position before."""
        self.overwritten: set[int] = set()
        """Sources of what was changed in part, by `x[mask] = ...`."""
        self.attentions_read: set[int] = set()
        """Sources of what attention maps were read of."""
        self.handed_out: set[int] = set()
        """Tokenizations whose ids, not only what a model made of them, go to where nobody sees."""
        self.written: set[int] = set()
        """Tokenizations of texts that the program itself holds."""
        self.held: dict[int, dict[str, Object]] = {}
        """By the object's id, the models and tokenizers that were stored on it."""
        self.held_parts: dict[tuple[int, str, int], HeldParts] = {}
        """Plain containers that modules of the program hold, by owner, attribute and container."""
        self.parts_of_held: dict[int, list[Value]] = {}
        """What they hold, by the container's id."""
        self.returned_together: list[list[Object]] = []
        """Models and tokenizers that a function returns in one tuple."""
        self.frozen: set[int] = set()
        """Models, by id, and calls that gave parameters, some of which no longer require gradients."""
        self.adapted: set[int] = set()
        """Models, by id, that were given adapters to train."""
        self.switches: dict[int, dict[int, str]] = {}
        """By the module's id, the calls that put it in training or evaluation mode, with their method."""
        self.switched_by: dict[int, set[int]] = {}
        """By the id of the frame of a root, the modules whose mode it switches."""
        self.tried: dict[ast.stmt, None] = {}
        """The `try` statements with a handler that were run."""
        self.come_round: set[ast.AST] = set()
        """Loops whose body may run again."""
        self.left_in_evaluation: set[tuple[ast.AST, int]] = set()
        """Loops, and the modules that the end of a round may leave in evaluation mode."""
        self.has_coroutines = "async def" in self.text
        self.has_samplers = "DistributedSampler" in self.text or "init_process_group" in self.text
        """Whether it matters who draws from a loader."""
        self.has_optimizers = "parameters(" in self.text
        """Whether it matters when a model is changed."""
        self.layers_given: dict[tuple[int, str, int], tuple[Object, str, Object]] = {}
        """Modules that were stored on an object, each with the object and the attribute, in order."""
        self.iterations: dict[tuple[ast.AST, int], Iteration] = {}
        """What is run through inside a loop, by the expression and its frame."""
        self.frames_reading_gradients: set[int] = set()
        self.handed_over: dict[ast.AST, bool] = {}
        """Functions that were passed to a callee outside the program; True if it may call them in any context."""
        self.switched_in_a_branch: set[int] = set()
        """Objects from outside whose mode only a branch is seen to set first: on the other way it is not known."""
        self.put_in_evaluation: set[int] = set()
        """Calls on whose unknown result `eval()` was called before it got a name."""
        self.called_quietly: set[str] = set()
        """The names of what is called where gradients are off, or may be."""
        self.entered: dict[ast.AST, int] = {}
        self.roots: dict[ast.AST, int] = {}
        """Functions that were run as if nobody called them, with their frames' ids."""
        self.results_of_roots: dict[ast.AST, Value] = {}
        """What they returned then."""
        self.wrappers: dict[ast.AST, Function] = {}
        """Decorated functions to what the program's own decorators made of them."""
        self.deferred: dict[int, tuple[Function, Frame, dict[str, Value]]] = {}
        """Generators by id: the function, its frame and what it was called with."""
        self.yields: dict[ast.AST, bool] = {}
        self.yielded: dict[ast.AST, tuple[Value, Value]] = {}
        """Generator functions under `@contextmanager` to what held of gradients and autocast where they yielded."""
        self.superseded: set[int] = set()
        """Frames of roots that turned out to be called after all: what happened in them counts for nothing."""
        self.functions: dict[ast.AST, Function] = {}
        self.classes: list[Class] = []
        self.made: dict[ast.AST, list[Object]] = {}
        """The instances that the module itself makes, by class."""
        self.has_star_import = False
        self.is_half_typed = False
        """Whether a statement is only the beginning of a call, such as `torch.manual_se`."""

    def module_frame(self) -> Frame:
        """The frame of the module whose code is running."""
        return self.module_around(self.frame)

    def module_around(self, frame: Frame) -> Frame:
        """The frame of the module in which the code of `frame` is written."""
        while frame.scope >= 0:
            frame = self.frames[frame.scope]
        return frame

    # ------------------------------------------------------------ identities

    def new_frame(self, function: Function | None, call: ast.AST | None, parent: Frame | None, scope: int) -> Frame:
        frame = Frame(len(self.frames), function, call, parent, scope, Store(self.trail))
        self.frames.append(frame)
        return frame

    def site(self, node: ast.AST, role: str = "") -> int:
        """The id of what happens at `node` in the present frame: the same each time a loop comes by."""
        key = (node, self.frame.id, role)
        found = self._ids_of_sites.get(key)
        if found is None:
            self._last_id += 1
            found = self._ids_of_sites[key] = self._last_id
        return found

    def make(self, cls: str | Class, node: ast.AST, call: int | None = None) -> Object:
        """An object that the program makes at `node`."""
        return Object(self.site(node, "object"), cls, node, call=call)

    def outside(self, name: str, node: ast.AST, cls: str | Class | None = None) -> Object:
        """An object that comes in from outside, by a parameter."""
        return Object(self.site(node, "outside " + name), cls, node, name=name, is_outside=True)

    def child(self, parent: Object, name: str, node: ast.AST, cls: str | None = None) -> Object:
        """The attribute, item or element of an outside object: the same one whenever it is asked for."""
        key = (parent.id, name)
        found = self.children.get(key)
        if found is None:
            self._last_id += 1
            found = Object(self._last_id, cls, node, name=name, parent=parent, is_outside=True)
            self.children[key] = found
            self.children_of.setdefault(parent.id, []).append(found.id)
        return found

    def behind(self, value: Opaque, written: ast.expr) -> Object | None:
        """What something unknown returned, by the name under which it is held: the same for all its uses."""
        if value.call is None or (value.cls is not None and value.cls != "torch.load"):
            return None
        name = written.id if isinstance(written, ast.Name) else getattr(written, "attr", "")
        made = self.calls.get(value.call)
        if not name or made is None or (made.is_resolved and made.name != "torch.load"):
            return None
        key = (value.call, "held " + name)
        found = self.children.get(key)
        if found is None:
            self._last_id += 1
            found = Object(self._last_id, None, made.node, name=name, call=value.call, is_outside=True)
            self.children[key] = found
            if value.call in self.put_in_evaluation:
                self.used(found, "eval")
                self.heap[found.id, "#training"] = OFF
        return found

    # ------------------------------------------------------------ records

    def record(
        self, node: ast.AST, name: str, receiver: Value | None, arguments: Arguments, *, is_resolved: bool = True
    ) -> CallRecord:
        id = self.site(node, "call")
        known = self.calls.get(id)
        if known is not None and (known.name != name or _is_another(known.receiver, receiver)):
            # One expression calls several things: each call is written down.
            id = self.site(node, f"call {name} {receiver.id if isinstance(receiver, Object) else ''}")
        heap = self.heap
        call = CallRecord(id, node, name, receiver, arguments, self.frame, heap[GRADIENTS], heap[AUTOCAST])
        call.is_resolved = is_resolved
        self.calls[id] = call
        if call.gradients is not ON:
            self.called_quietly.add(receiver.name if name == "()" and isinstance(receiver, Object) else name)
        return call

    def used(self, value: Value, how: str) -> None:
        if type(value) is Object:
            uses = self.uses.get(value.id)
            if uses is None:
                self.uses[value.id] = {how}
            else:
                uses.add(how)
            return
        for option, _ in options(value):
            if isinstance(option, Object):
                self.uses.setdefault(option.id, set()).add(how)

    def note_switch(self, module: Object, method: str, node: ast.AST) -> None:
        """Write down that `eval()` or `train()` is called on a module."""
        self.switches.setdefault(module.id, {})[self.site(node, "call")] = method
        self.switched_by.setdefault(self.frame.root.id, set()).add(module.id)

    def note_derived(self, tensor: Value, how: str, *given: Value) -> None:
        """Write down what a tensor was computed from, and by which method; empty for an operator."""
        if self.has_tensors:
            self.derived[id(tensor)] = tensor, how, given

    def note_iteration(self, written: ast.expr, value: Value) -> None:
        """Write down what is run through, if that happens again and again."""
        frame = self.frame
        if frame.loops and self.has_samplers:
            self.iterations[written, frame.id] = Iteration(written, value, frame, frame.loops)

    def note_together(self, returned: Value) -> None:
        """Write down the objects that a function returns in one tuple."""
        held = [item for item in returned.items if isinstance(item, Object)] if isinstance(returned, Tuple) else []
        self.returned_together += [held] if len(held) > 1 else []

    def leave(self, value: Value) -> None:
        """The function that is running returns, or yields, `value`."""
        frame = self.frame
        outside = len(frame.parent.guards) if frame.parent is not None else 0
        frame.returns.append((value, self.changes_on_leaving(frame.mark, frame.locals), frame.guards[outside:]))

    def note_yield(self) -> None:
        """Write down what holds of gradients and autocast where the function that is running yields."""
        function = self.frame.function
        if function is not None and function.decorators:
            gradients, autocast = self.heap[GRADIENTS], self.heap[AUTOCAST]
            before = self.yielded.get(function.node, (gradients, autocast))
            self.yielded[function.node] = (join(before[0], gradients), join(before[1], autocast))

    def changes_on_leaving(self, mark: int, without: Store | None = None) -> Changes:
        """What is different since the mark, once the contexts that were entered since then are left."""
        changes = self.trail.changes(mark, without)
        for entered, gradients, autocast in self.contexts:
            if entered >= mark:
                for key, value in ((GRADIENTS, gradients), (AUTOCAST, autocast)):
                    if (id(self.heap), key) in changes:
                        changes[id(self.heap), key] = (self.heap, value)
                break
        return changes

    def step(self, statements: int) -> None:
        """Count statements that are about to run; give up when there were too many."""
        self._steps += statements
        if self._steps >= self._next_look:
            self._next_look = self._steps + _STEPS_BETWEEN_LOOKS
            if self._stop is not None and self._stop():
                raise Stopped
            if self._steps > _MOST_STEPS:
                self.is_complete = False

    # ------------------------------------------------------------ what the layers above add

    def evaluate(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def resolve(self, value: Imported) -> Value:
        """What a name of another module of the project is."""
        raise NotImplementedError

    def member_of_import(self, value: Imported, name: str) -> Value:
        """The attribute of what may be a module outside the project."""
        raise NotImplementedError

    def global_of(self, frame: Frame, name: str) -> Value | None:
        """A variable of the module that runs in `frame`."""
        raise NotImplementedError

    def is_worth_entering(self, function: Function, arguments: Arguments, receiver: Value | None) -> bool:
        """Whether what a function does with these arguments can matter here."""
        raise NotImplementedError

    def member(self, module: Module, name: str) -> Value:
        """The attribute of a module of the project."""
        raise NotImplementedError

    def assign_member(self, module: Imported | Module, name: str, value: Value) -> None:
        """Overwrite a variable of what may be another module."""
        raise NotImplementedError

    def change_any_member(self, module: Imported | Module) -> None:
        """Any variable of what may be another module may hold something else now."""
        raise NotImplementedError

    def examine_lengths(self, values: Sequence[Value]) -> None:
        """Lengths, alone or in a container, are given to something that compares, prints or keeps them."""
        raise NotImplementedError

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        raise NotImplementedError

    def call_method(self, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        raise NotImplementedError

    def unresolved(
        self, name: str, receiver: Value | None, arguments: Arguments, node: ast.AST, callee: Value = ANYTHING
    ) -> Value:
        """A call of which nobody knows what it does."""
        raise NotImplementedError

    def run_block(self, body: list[ast.stmt]) -> bool:
        raise NotImplementedError

    def clear(self) -> None:
        """Let go of everything, so that no reference cycle outlives the file."""
        for frame in self.frames:
            frame.locals.clear()
            frame.returns.clear()
            frame.function = None
            frame.parent = None
            del frame.root
        for cls in self.classes:
            cls.namespace.clear()
        self.trail.entries.clear()
        self.frames.clear()
        self.heap.clear()
        self.calls.clear()
        self.functions.clear()
        self.made.clear()
        self.held.clear()
        self.returned_together.clear()
        self.classes.clear()
        self.children.clear()
        self.children_of.clear()
        self.frames_by_site.clear()
        self.handed_over.clear()
        self.entered.clear()
        self.deferred.clear()
        self.wrappers.clear()
        self.layers_given.clear()
        self.held_parts.clear()
        self.parts_of_held.clear()
        self.iterations.clear()
        self.left_in_evaluation.clear()
        self.come_round.clear()
        self.yields.clear()
        self.yielded.clear()
        self.roots.clear()
        self.results_of_roots.clear()
        self.differentiated.clear()
        self.sums.clear()
        self.open_sums.clear()
        self.kept_sums.clear()
        self.parts.clear()
        self.derived.clear()
        self._ids_of_sites.clear()


def _is_another(one: Value | None, other: Value | None) -> bool:
    return isinstance(one, Object) and isinstance(other, Object) and one.id != other.id
