"""What one round of a loop leaves for the next: a model in evaluation mode, a sampler that counts no epochs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_lsp.facts.events import Iteration
from llm_lsp.facts.extents import TRAINS
from llm_lsp.facts.guards import compared_with
from llm_lsp.facts.modes import is_same_object, is_the_same_in_both_modes, may_switch, switch_of
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.updates import common_loop
from llm_lsp.facts.values import ANYTHING, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord, Frame
    from llm_lsp.facts.place import Place
    from llm_lsp.source import Source

__all__ = ["KeptMode", "RepeatedLoader", "kept_modes", "repeated_loaders"]

_DEEPEST_LOADER = 3


# ---------------------------------------------------------------- evaluation mode


class KeptMode:
    """An `eval()` in a loop, after which a training pass of a later round finds the model in evaluation mode."""

    __slots__ = ("_facts", "_loop", "model", "pass_", "switch")

    def __init__(self, facts: Facts, model: Object, switch: Call, pass_: Call, loop: ast.AST) -> None:
        self._facts = facts
        self._loop = loop
        self.model = model
        self.switch = switch
        """The call of `eval`."""
        self.pass_ = pass_
        """The first forward in the loop of which gradients are computed."""

    @property
    def is_switched_back(self) -> Truth:
        """Whether something in the loop may put the model back into training mode."""
        facts, machine = self._facts, self._facts.machine
        for id, method in machine.switches[self.model.id].items():
            if method == "train" and id in machine.calls and self._loop in machine.calls[id].loops:
                return answer(YES)
        inside = [record for record in facts.records if self._loop in record.loops]
        is_seen = facts.is_whole and not any(may_switch(self._facts, record, self.model) for record in inside)
        return answer(NO if is_seen else UNKNOWN)

    @property
    def is_meant_to_train(self) -> Truth:
        """Whether the program wants training mode for this pass: it asks for it, or optimizes what it first ran otherwise."""
        machine = self._facts.machine
        if "train" in machine.switches[self.model.id].values():
            return answer(YES)
        is_first = self.pass_.record.id < self.switch.record.id or self._evaluates_at_times or self._is_of_a_later_phase
        passes = _training_passes(self._facts)
        trained = [id for id, own in passes.items() if any(self._loop in call.record.loops for _, call in own)]
        is_the_one = self.pass_.model_is_optimized is YES or (
            len(trained) == 1 and self.pass_.model_is_frozen is NO and self.is_stepped
        )
        return answer(YES if is_first and is_the_one else UNKNOWN)

    @property
    def _evaluates_at_times(self) -> bool:
        """Whether only some rounds call `eval()`, for runs that train nothing."""
        inside = set(ast.walk(self._loop))
        return any(test in inside for test, _ in self.switch.record.guards) and any(
            is_same_object(call.record.receiver, self.model) and call.reaches_gradient is not YES
            for call in self._facts.runs_of_models()
            if self._loop in call.record.loops
        )

    @property
    def _is_of_a_later_phase(self) -> bool:
        """Whether `eval()` is not called in the first round of `for phase in ("train", "val")`."""
        for loop in self.switch.record.loops:
            if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Tuple | ast.List) or not loop.iter.elts:
                continue
            for test, came_out in self.switch.record.guards:
                phase = compared_with(test, loop.target)
                if phase is not None and (ast.dump(phase) == ast.dump(loop.iter.elts[0])) is not came_out:
                    return True
        return False

    @property
    def is_stepped(self) -> bool:
        """Whether an optimizer takes steps in the loop."""
        return any(self._loop in record.loops for record in self._facts.index.named(("step",)))

    @property
    def is_made_anew(self) -> Truth:
        """Whether each round of the loop makes a model of its own, or takes another one."""
        if self._is_taken_from_many:
            return answer(YES)
        made = (
            record
            for record in self._facts.records
            if self._loop in record.loops
            and (
                record.id == self.model.call
                or (is_same_object(record.result, self.model) and not is_same_object(record.receiver, self.model))
            )
        )
        return answer(YES if any(made) else NO)

    @property
    def _is_taken_from_many(self) -> bool:
        """Whether the model is an element of what the loop runs through, or what a name stands for in this round alone."""
        owner: Object | None = self.model
        while owner is not None:
            if owner.name == "[]":
                return True
            owner = owner.parent
        names = {text.partition(".")[0] for text in (self.switch.callee, self.trained_as)}
        return not names.isdisjoint(_bound_in(self._loop))

    @property
    def is_the_same_in_both_modes(self) -> Truth:
        """Whether all layers of the model are known, and none asks for the mode."""
        return answer(YES if is_the_same_in_both_modes(self._facts, self.model) else NO)

    @property
    def trained_as(self) -> str:
        """The model, as the training pass writes it."""
        return self.pass_.callee

    @property
    def trained_as_name(self) -> str | None:
        """The same where it is a name, so that its methods can be called there."""
        return _plain(self.trained_as)

    @property
    def switched_as(self) -> str | None:
        """The model, as `eval()` is called on it, where that is a name."""
        return _plain(self.switch.callee.removesuffix(".eval"))

    @property
    def is_unconditional(self) -> bool:
        """Whether every round of the loop comes by, and both calls are written there."""
        own = [statement.value for statement in ast.iter_child_nodes(self._loop) if isinstance(statement, ast.Expr)]
        is_direct = any(value is self.switch.record.node for value in own)
        return is_direct and self.pass_.record.frame is self.switch.record.frame

    @property
    def is_one_of_several(self) -> bool:
        """Whether the same `eval()` is called on other models, too: on each of what a loop runs through."""
        switch = self.switch.record
        same = (one for one in self._facts.index.named((switch.name,)) if one.frame is switch.frame)
        return any(one.node is switch.node and one.id != switch.id for one in same)

    @property
    def before_training(self) -> Place | None:
        """The statement, in the function of the training pass and inside the loop, that leads to it."""
        return _statement_that_leads(self._facts, self.pass_.record.frame, self._loop, self.pass_.record.node)

    @property
    def after_evaluation(self) -> Place | None:
        """The last statement of the branch that evaluates, where it is one in the loop that comes by only at times."""
        if self.switch.record.frame is not self.pass_.record.frame:
            return None
        for node in ast.walk(self._loop):
            if not isinstance(node, ast.If):
                continue
            for branch in (node.body, node.orelse):
                own = [statement.value for statement in branch if isinstance(statement, ast.Expr)]
                if self.switch.record.node in own and not isinstance(branch[-1], _LEAVES):
                    return self._facts.place(branch[-1])
        return None

    @property
    def is_last_in_its_branch(self) -> bool:
        """Whether the branch that calls `eval()` ends with it: what it is called for comes later."""
        branches = [
            each for node in ast.walk(self._loop) if isinstance(node, ast.If) for each in (node.body, node.orelse)
        ]
        last = [branch[-1] for branch in branches if branch]
        return any(isinstance(one, ast.Expr) and one.value is self.switch.record.node for one in last)


_LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)


def kept_modes(facts: Facts) -> Iterator[KeptMode]:
    """Each `eval()` with the training pass that finds the model as it left it."""
    machine = facts.machine
    passes = _training_passes(facts) if facts.records and machine.left_in_evaluation else {}
    for id, calls in machine.switches.items():
        switches = [machine.calls[call] for call, method in calls.items() if method == "eval" and call in machine.calls]
        for record in (switch_of(facts, switch, id) for switch in switches):
            for model, pass_ in passes.get(id, ()):
                loop = common_loop(record, pass_.record)
                if loop is not None and (loop, id) in machine.left_in_evaluation:
                    yield KeptMode(facts, model, Call(facts, record), pass_, loop)
                    break


def _training_passes(facts: Facts) -> dict[int, list[tuple[Object, Call]]]:
    """The forwards of which gradients are computed, with their models, by these models' ids."""
    found: dict[int, list[tuple[Object, Call]]] = {}
    for call in facts.forwards():
        model = call.record.receiver
        if isinstance(model, Object) and call.reaches_gradient is YES:
            found.setdefault(model.id, []).append((model, call))
    return found


def _bound_in(loop: ast.AST) -> set[str]:
    """The names that each round binds to something else, the calls of their own methods aside."""
    found: set[str] = set()
    among: list[tuple[str, set[str]]] = []
    for node in ast.walk(loop):
        if isinstance(node, ast.For):
            items = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) and node is not loop else []
            if isinstance(node.target, ast.Name) and items and all(isinstance(item, ast.Name) for item in items):
                # `for net in (G, D)` in every round binds what other names stand for.
                among.append((node.target.id, {item.id for item in items if isinstance(item, ast.Name)}))
                continue
            found |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.Assign):
            names = {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            read = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
            found |= names - read
    return found | {name for name, read in among if read & found}


def _plain(text: str) -> str | None:
    return text if all(part.isidentifier() for part in text.split(".")) else None


Body = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module


def _statement_that_leads(facts: Facts, frame: Frame, loop: ast.AST, node: ast.AST) -> Place | None:
    """The outermost statement that holds `node`, inside the loop if that is in the same function."""
    function: Body = frame.function.node if frame.function is not None else facts.machine.tree
    inside = loop if any(part is loop for part in ast.walk(function)) else function
    for statement in ast.iter_child_nodes(inside):
        if isinstance(statement, ast.stmt) and any(part is node for part in ast.walk(statement)):
            return facts.place(statement)
    return None


# ---------------------------------------------------------------- samplers


class RepeatedLoader:
    """A loader with a distributed sampler, run through in each round of a loop."""

    __slots__ = ("_depth", "_facts", "_iteration", "_loop", "_sampler", "is_optional", "loader")

    def __init__(
        self,
        facts: Facts,
        iteration: Iteration,
        loader: CallRecord,
        depth: int,
        sampler: Object,
        *,
        is_optional: bool,
    ) -> None:
        self._depth = depth
        self._facts = facts
        self._iteration = iteration
        self._loop = iteration.loops[-1]
        self._sampler = sampler
        self.loader = Call(facts, loader)
        """The call that makes the loader."""
        self.is_optional = is_optional
        """Whether there may be no sampler, or another one."""

    @property
    def sampler(self) -> Call:
        """The call that makes the sampler."""
        return Call(self._facts, self._facts.machine.calls[self._sampler.call or 0])

    @property
    def place(self) -> Place | None:
        """Where this module runs through the loader, or calls what does."""
        nodes = [
            self._iteration.node,
            *(frame.call for frame in self._iteration.frame.chain() if frame.call is not None),
        ]
        places = (self._facts.place(node) for node in nodes)
        return next((place for place in places if place.path == self._facts.source.path), None)

    @property
    def is_shuffled(self) -> Truth:
        """Whether the sampler draws a permutation by its epoch."""
        call = self.sampler
        shuffle = call.argument("shuffle", 3)
        if shuffle is not None:
            return shuffle.is_true
        return answer(YES if call.record.arguments.is_complete else UNKNOWN)

    @property
    def repeats(self) -> Truth:
        """Whether the loop counts epochs or goes on for ever, and the loader is the same in every round."""
        made = {*self.loader.record.loops, *self.sampler.record.loops}
        if self._loop in made or self._loop not in self._facts.machine.come_round:
            return answer(NO)
        if isinstance(self._loop, ast.While):
            return answer(YES)
        if not isinstance(self._loop, ast.For):
            return answer(UNKNOWN)
        words = {_last_name(node.func) for node in ast.walk(self._loop.iter) if isinstance(node, ast.Call)}
        written = self._loop.iter.elts if isinstance(self._loop.iter, ast.Tuple | ast.List) else None
        is_once = self._facts.text_of(self._loop.iter) in {"range(1)", "range(0, 1)"}
        if is_once or (written is not None and len(written) == 1):
            return answer(NO)
        is_named = isinstance(self._loop.target, ast.Name) and "epoch" in self._loop.target.id
        return answer(YES if is_named or words & {"range", "trange", "count"} else UNKNOWN)

    @property
    def is_trained_on(self) -> Truth:
        """Whether gradients are computed while it is run through, or a generator hands its batches on."""
        frame = self._iteration.frame
        function = frame.function.node if frame.function is not None else None
        if function is not None and self._facts.machine.is_generator(function):
            return answer(YES)
        trains = (record for record in self._facts.calls(*TRAINS) if record.record.frame.root is frame.root)
        return answer(YES if any(self._is_inside(call.record) for call in trains) else UNKNOWN)

    def _is_inside(self, record: CallRecord) -> bool:
        """Whether the call is made while the loader is run through; with `iter`, that lasts for the loop's rounds."""
        if self._iteration.is_by_hand:
            return self._loop in record.loops
        depth = len(self._iteration.loops)
        inner = record.loops[depth] if len(record.loops) > depth else None
        if isinstance(inner, (ast.For, ast.AsyncFor)):
            return inner.iter is self._iteration.node
        generators: list[ast.comprehension] = getattr(inner, "generators", [])
        return any(generator.iter is self._iteration.node for generator in generators)

    @property
    def epoch_is_set(self) -> Truth:
        """Whether somebody tells the sampler the epoch, or a library does that prepares the loader."""
        facts, machine = self._facts, self._facts.machine
        is_told = not {".epoch", ".seed"}.isdisjoint(machine.uses.get(self._sampler.id, ()))
        is_lost = not machine.escaped.isdisjoint((self._sampler.id, self.loader.record.id)) or not facts.is_whole
        others: set[ast.AST] = set()
        for record in facts.records:
            if record.name == "set_epoch":
                is_other = isinstance(record.receiver, Object) and record.receiver.id != self._sampler.id
                is_told = is_told or not is_other
                others |= {record.node} if is_other else set()
            elif record.name in library.PREPARE_METHODS or not record.is_resolved:
                is_lost = is_lost or any(self._is_mine(value) for value in record.arguments.values())
        mentioned = sum(_mentions(source, "set_epoch") for source in machine.sources.values())
        return answer(YES if is_told else UNKNOWN if is_lost or mentioned > len(others) else NO)

    def _is_mine(self, value: Value) -> bool:
        return any(
            is_same_object(option, self._sampler)
            or (isinstance(option, Opaque) and option.call == self.loader.record.id)
            for option, _ in options(value)
        )

    @property
    def counted_by(self) -> str | None:
        """The variable that counts the epochs."""
        target = self._loop.target if isinstance(self._loop, ast.For) and not self._iteration.is_by_hand else None
        return target.id if isinstance(target, ast.Name) and target.id.strip("_") else None

    @property
    def before(self) -> Place | None:
        """The statement in the counting loop that leads to where the loader is run through."""
        counting, step = self._counting_frame, self._iteration.node
        for frame in self._iteration.frame.chain():
            if frame is counting:
                return _statement_that_leads(self._facts, frame, self._loop, step)
            if not isinstance(frame.call, ast.expr):
                break
            step = frame.call
        return None

    @property
    def text(self) -> str:
        """The loader, as it is written inside `enumerate`, `tqdm` and their like."""
        node, _ = self._unwrapped
        return " ".join(self._facts.text_of(node).split())

    @property
    def _unwrapped(self) -> tuple[ast.expr, int]:
        """The same with how many such calls are written around it."""
        node, depth = self._iteration.node, 0
        while isinstance(node, ast.Call) and node.args:
            node, depth = node.args[0], depth + 1
        return node, depth

    @property
    def is_told_by_name(self) -> bool:
        """Whether a variable holds the sampler where the epochs are counted."""
        return self._sampler_name is not None

    @property
    def sampler_text(self) -> str | None:
        """How to write the sampler where the epochs are counted."""
        is_here = self._counting_frame is self._iteration.frame and self._unwrapped[1] == self._depth
        is_in_batches = self.loader.argument("batch_sampler", 4) is not None
        of_loader = f"{self.text}.batch_sampler.sampler" if is_in_batches else f"{self.text}.sampler"
        return self._sampler_name or (of_loader if is_here and _plain(self.text) else None)

    @property
    def _sampler_name(self) -> str | None:
        made = self.sampler
        return made.result_name if made.record.frame is self._counting_frame else None

    @property
    def _counting_frame(self) -> Frame | None:
        for frame in self._iteration.frame.chain():
            function: Body = frame.function.node if frame.function is not None else self._facts.machine.tree
            if any(part is self._loop for part in ast.walk(function)):
                return frame
        return None


def repeated_loaders(facts: Facts) -> Iterator[RepeatedLoader]:
    """Each time that a loader with a distributed sampler is run through inside a loop."""
    if not facts.records:
        return
    by_hand = [
        Iteration(node.args[0], value, call.record.frame, call.record.loops, is_by_hand=True)
        for call in facts.calls("builtins.iter")
        if isinstance(node := call.record.node, ast.Call) and node.args and call.record.loops
        for value in call.record.arguments.positional[:1]
    ]
    for iteration in [*facts.machine.iterations.values(), *by_hand]:
        if iteration.frame.root.id in facts.machine.superseded:
            continue
        for loader, depth in _loaders_in(facts, iteration.value):
            choices = list(_samplers_of(facts, loader))
            for sampler in choices:
                if isinstance(sampler, Object) and sampler.cls in library.DISTRIBUTED_SAMPLERS:
                    yield RepeatedLoader(facts, iteration, loader, depth, sampler, is_optional=len(choices) > 1)


def _samplers_of(facts: Facts, loader: CallRecord) -> Iterator[Value]:
    """What a loader's order may come from; the sampler of a `BatchSampler` is the one that counts."""
    given, batches = loader.arguments.get("sampler", 3), loader.arguments.get("batch_sampler", 4)
    made = facts.machine.calls.get(batches.call or 0) if isinstance(batches, Opaque) else None
    if made is not None and made.name.rpartition(".")[2] == "BatchSampler":
        given = made.arguments.get("sampler", 0)
    yield from (option for option, _ in options(given or ANYTHING))


def _loaders_in(facts: Facts, value: Value, depth: int = 0) -> Iterator[tuple[CallRecord, int]]:
    """The calls that make the loader which a value is, or which `enumerate`, `tqdm` and their like run through.

    With how many of these are around it.
    """
    for option, _ in options(value):
        record = (
            facts.machine.calls.get(option.call) if isinstance(option, Opaque) and option.call is not None else None
        )
        if record is None or not isinstance(option, Opaque) or option.cls != record.name:
            continue
        if record.name.rpartition(".")[2] in {"DataLoader", "StatefulDataLoader"}:
            yield record, depth
        elif depth < _DEEPEST_LOADER and (record.name in library.RUN_THROUGH or record.name.startswith("tqdm.")):
            for argument in record.arguments.positional:
                yield from _loaders_in(facts, argument, depth + 1)


def _mentions(source: Source, name: str) -> int:
    """How often the code, comments aside, speaks of a method."""
    if name not in source.text:
        return 0
    found = (
        node.attr if isinstance(node, ast.Attribute) else node.value if isinstance(node, ast.Constant) else None
        for node in ast.walk(source.tree)
    )
    return sum(each == name for each in found)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
