"""What losses are given: scores as a layer computes them, probabilities, or the logarithms of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Range
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Function, Object, Opaque, Tuple, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord

__all__ = ["Divergence", "ScoreLoss", "divergences", "score_losses"]

_PROBABILITIES, _LOGARITHMS = "probabilities", "logarithms"
_DEEPEST = 8
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class Distribution:
    """A value that a softmax, a sigmoid or a logarithm made, whatever shape it was given since."""

    __slots__ = ("call", "kind")

    def __init__(self, kind: str, call: Call) -> None:
        self.kind = kind
        self.call = call
        """The call that made it so."""


class ScoreLoss:
    """A call that computes a loss, seen with what it is given first."""

    __slots__ = ("_facts", "_takes", "call", "first")

    def __init__(self, facts: Facts, call: Call, takes: str) -> None:
        self._facts = facts
        self._takes = takes
        self.call = call
        value = call.record.arguments.get("input", 0)
        self.first = distribution_of(facts, value) if value is not None else None
        """What its first argument is known to be; None where that is not known."""

    @property
    def is_given_probabilities(self) -> Truth:
        """Whether the first argument certainly holds probabilities, of whatever the loss takes."""
        return answer(YES if self.first is not None and self.first.kind == _PROBABILITIES else UNKNOWN)

    @property
    def takes_logarithms(self) -> bool:
        """Whether it takes log-probabilities; else scores, which it normalizes itself."""
        return self._takes == _LOGARITHMS

    @property
    def name(self) -> str:
        """The loss, as it is written, or its class."""
        receiver = self.call.record.receiver
        cls = receiver.cls if isinstance(receiver, Object) else None
        return self.call.callee if cls is None else str(cls).rpartition(".")[2]

    @property
    def without_normalization(self) -> tuple[Range, str] | None:
        """What to write for the normalized value in the loss's argument; None where that isn't plain."""
        facts, given = self._facts, self._written_first
        made = self.first.call if self.first is not None else None
        scores = _first_expression(made.record) if made is not None else None
        if made is None or given is None or scores is None:
            return None
        base = _behind_shapes(given)
        text = facts.text_of(scores)
        if base is made.record.node:
            is_whole = base is given or isinstance(scores, _ATOMS)
            return facts.place(base).range, text if is_whole else f"({text})"
        is_name = isinstance(base, ast.Name) and made.result_name == base.id != text
        place = facts.place(scores)
        if not is_name or not isinstance(scores, (ast.Name, ast.Attribute)) or "\n" in text:
            return None
        is_kept = facts.is_visible(place, made, made) and facts.is_visible(place, made, self.call)
        return (facts.place(base).range, text) if is_kept else None

    @property
    def as_logarithms(self) -> tuple[Range, str] | None:
        """How to make the first argument log-probabilities; None where that isn't plain.

        `softmax` becomes `log_softmax` where nobody else takes what it returns; else the logarithm is taken here.
        """
        facts, given = self._facts, self._written_first
        made = self.first.call if self.first is not None else None
        if made is None or given is None:
            return None
        base, function = _behind_shapes(given), made.record.node
        is_own = base is function or (isinstance(base, ast.Name) and self._is_only_use(base.id))
        named = made.method_range
        if is_own and named is not None and made.callee.endswith(".softmax"):
            return named, "log_softmax"
        if not isinstance(given, _ATOMS):
            return None
        place = facts.place(given)
        return Range(place.range.end, place.range.end), ".log()"

    @property
    def _written_first(self) -> ast.expr | None:
        return _first_expression(self.call.record)

    def _is_only_use(self, name: str) -> bool:
        """Whether a variable of the function that computes the loss is read once, and holds what was normalized there."""
        frame, made = self.call.record.frame, self.first.call if self.first is not None else None
        if made is None or made.record.frame is not frame or made.result_name != name:
            return False
        body = frame.function.node if frame.function is not None else self._facts.source.tree
        return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(body)) == 2


class Divergence(ScoreLoss):
    """A call of `kl_div`, or of a `KLDivLoss`."""

    __slots__ = ("second", "settings")

    def __init__(self, facts: Facts, call: Call) -> None:
        super().__init__(facts, call, _LOGARITHMS)
        target = call.record.arguments.get("target", 1)
        self.second = distribution_of(facts, target) if target is not None else None
        """What the target is known to be."""
        receiver = call.record.receiver
        made = facts.machine.calls.get(receiver.call or 0) if isinstance(receiver, Object) else None
        self.settings = call if made is None else Call(facts, made)
        """The call that says how the loss is reduced: itself, or the one that made the `KLDivLoss`."""

    @property
    def takes_log_target(self) -> Truth:
        """Whether the target is taken for log-probabilities."""
        said = self.settings.argument("log_target", 5 if self._is_function else 3)
        if said is not None:
            return said.is_true
        return answer(NO if self.settings.record.arguments.is_complete else UNKNOWN)

    @property
    def target_is_logarithms(self) -> Truth:
        """Whether the target certainly holds log-probabilities; NO if it certainly holds probabilities."""
        if self.second is None:
            return answer(UNKNOWN)
        return answer(YES if self.second.kind == _LOGARITHMS else NO)

    @property
    def is_averaged_over_classes(self) -> Truth:
        """Whether the sum is divided by the number of all elements: `reduction="mean"`, which is what nobody asks for."""
        if self.settings.passes("size_average", "reduce") is not NO:
            return answer(UNKNOWN)
        said = self.settings.argument("reduction", 4 if self._is_function else 2)
        if said is not None:
            is_sure = isinstance(said.value, Constant) and not said.value.may
            return answer(UNKNOWN if not is_sure else YES if said.constant == "mean" else NO)
        return answer(YES if self.settings.record.arguments.is_complete else UNKNOWN)

    @property
    def _is_function(self) -> bool:
        return self.settings is self.call


def score_losses(facts: Facts) -> Iterator[ScoreLoss]:
    """The calls of losses that normalize what they are given, or take log-probabilities."""
    for call in facts.calls("()", *library.LOSSES_OF_SCORES):
        takes = library.LOSSES_OF_SCORES.get(_name_of(call.record))
        if takes is not None and not _makes_a_loss(call.record):
            yield ScoreLoss(facts, call, takes)


def divergences(facts: Facts) -> Iterator[Divergence]:
    """The calls of the Kullback-Leibler divergence."""
    for call in facts.calls("()", *library.DIVERGENCES):
        if _name_of(call.record) in library.DIVERGENCES and not _makes_a_loss(call.record):
            yield Divergence(facts, call)


def _name_of(record: CallRecord) -> str:
    """The function that is called, or the class of what is called."""
    receiver = record.receiver
    if record.name == "()" and isinstance(receiver, Object) and isinstance(receiver.cls, str):
        return receiver.cls
    return record.name if receiver is None or isinstance(receiver, Opaque) else f".{record.name}"


def _makes_a_loss(record: CallRecord) -> bool:
    """Whether the call makes the object that computes the loss."""
    return record.receiver is None and record.name.rpartition(".")[2][:1].isupper()


def distribution_of(facts: Facts, value: Value, depth: int = 0) -> Distribution | None:
    """What the value was normalized by, if that is the last thing that changed what it holds."""
    choices = options(value)
    if len(choices) > 1:
        found = [distribution_of(facts, option, depth + 1) for option, _ in choices] if depth < _DEEPEST else [None]
        first = found[0]
        return first if all(one is not None and first is not None and one.kind == first.kind for one in found) else None
    record = facts.machine.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
    if record is None or depth > _DEEPEST:
        return None
    name = _name_of(record).rpartition(".")[2]
    if record.receiver is None and not record.name.startswith(("torch.", "einops.")):
        return None
    kind = library.NORMALIZERS.get(name)
    if kind is not None:
        return Distribution(kind, Call(facts, record))
    if name in library.KEEPS_DISTRIBUTION:
        given = record.receiver if isinstance(record.receiver, Opaque) else record.arguments.get("input", 0)
        return distribution_of(facts, given, depth + 1) if given is not None else None
    result = _computed_by(facts, record, value) if record.name == "()" else None
    return distribution_of(facts, result, depth + 1) if result is not None else None


def _computed_by(facts: Facts, record: CallRecord, value: Value) -> Value | None:
    """What a module's forward returns, or the part of it that the value is; of layers in a row, the last one's result."""
    machine, module = facts.machine, record.receiver
    cls = module.cls if isinstance(module, Object) else None
    if isinstance(cls, Class):
        forward = cls.find("forward")
        result = machine.results_of_roots.get(forward.node) if isinstance(forward, Function) else None
        if result is None or record.result is value:
            return result
        names = [name for (_, name), (owner, part) in machine.parts.items() if part is value and owner is record.result]
        if isinstance(result, Tuple):
            index = names[0] if names else None
            size = len(result.items)
            return result.items[index] if isinstance(index, int) and -size <= index < size else None
        # Some rows or columns of the one tensor that it returns.
        return result if names and not isinstance(names[0], str) else None
    made = machine.calls.get(module.call or 0) if isinstance(module, Object) and cls == "torch.nn.Sequential" else None
    if made is None or not made.arguments.is_complete or not made.arguments.positional:
        return None
    last = made.arguments.positional[-1]
    return Opaque(call=last.call) if isinstance(last, Object) and isinstance(last.cls, str) else None


def _first_expression(record: CallRecord) -> ast.expr | None:
    """What is normalized, or what the loss is computed of, as it is written."""
    node = record.node
    if not isinstance(node, ast.Call):
        return None
    if isinstance(record.receiver, Opaque) or (record.receiver is not None and record.name != "()"):
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    named = [keyword.value for keyword in node.keywords if keyword.arg == "input"]
    return named[0] if named else node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None


def _behind_shapes(node: ast.expr) -> ast.expr:
    """What an expression takes another shape, or a part, of."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in library.KEEPS_DISTRIBUTION
        ):
            node = node.func.value
        else:
            return node
