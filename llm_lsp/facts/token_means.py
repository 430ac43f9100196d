"""Means over the tokens of texts, and whether the padding counts in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.padding import pads
from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import OVERFLOW, Constant, Object, Opaque, Value
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["TokenMean", "token_means"]

_OVER_TOKENS = (1, -2)
"""The dimension of the tokens, in states of shape [texts, tokens, features]."""
_SAME_SHAPE = frozenset(
    {
        "float",
        "to",
        "detach",
        "cpu",
        "cuda",
        "half",
        "double",
        "bfloat16",
        "contiguous",
        "clone",
        "normalize",
        "layer_norm",
        "dropout",
    }
)
_IN_PLACE = frozenset({"masked_fill_", "mul_", "zero_", "index_fill_", "masked_scatter_", "copy_"})


class TokenMean:
    """A mean of a model's states over the tokens of each text."""

    __slots__ = ("_facts", "_padded", "_run", "call")

    def __init__(self, facts: Facts, record: CallRecord, run: CallRecord, padded: CallRecord | None) -> None:
        self._facts = facts
        self._run = run
        """The forward that the states come from."""
        self._padded = padded
        """What pads the texts, where that is seen."""
        self.call = Call(facts, record)

    @property
    def counts_padding(self) -> Truth:
        """Whether the states of padding are part of the mean; UNKNOWN where nothing may be padded, or something is taken out."""
        machine, id = self._facts.machine, self._run.id
        is_changed = id in machine.overwritten or any(
            record.receiver is not None and id in record.receiver.sources
            for record in self._facts.index.named(_IN_PLACE)
        )
        if is_changed or not self._facts.is_whole or (self._padded is None and not self._is_given_mask):
            return answer(UNKNOWN)
        return answer(YES)

    @property
    def padding_place(self) -> Place:
        """What pads, or the forward that is told what is padding."""
        return self._facts.place(self._padded.node if self._padded is not None else self._run.node)

    @property
    def is_padded_here(self) -> bool:
        """Whether it is seen what pads."""
        return self._padded is not None

    @property
    def _is_given_mask(self) -> bool:
        """Whether the forward gets ids and their mask from whoever calls the function around it."""
        given = self._run.arguments.keywords
        ids = given.get("input_ids") or next(iter(self._run.arguments.positional), None)
        mask = given.get("attention_mask")
        if not isinstance(mask, Object) or not mask.is_outside or not isinstance(ids, Object) or not ids.is_outside:
            return False
        return "mask" in mask.name and ("input_ids" in given or "ids" in ids.name)


def token_means(facts: Facts) -> Iterator[TokenMean]:
    """The means over tokens of what models of transformers return, in order."""
    records = [record for record in facts.index.named(("mean", "torch.mean")) if _is_over_tokens(record)]
    runs = {run.record.id: run.record for run in facts.forwards() if _is_of_text(run.record)} if records else {}
    for record in records:
        states = record.receiver if record.name == "mean" else record.arguments.get("input", 0)
        sources = states.sources if states is not None else frozenset[int]()
        made = [runs[id] for id in sources if id in runs]
        if states is None or len(made) != 1 or OVERFLOW in sources:
            continue
        if _are_states(facts, states, record, made[0]):
            yield TokenMean(facts, record, made[0], _padding_of(facts, made[0]))


def _is_over_tokens(record: CallRecord) -> bool:
    arguments = record.arguments
    dim = arguments.get("dim") or arguments.get("axis") or arguments.get("dim", 0 if record.name == "mean" else 1)
    return isinstance(dim, Constant) and type(dim.value) is int and dim.value in _OVER_TOKENS


def _is_of_text(run: CallRecord) -> bool:
    return isinstance(run.receiver, Object) and isinstance(run.receiver.cls, str)


def _padding_of(facts: Facts, run: CallRecord) -> CallRecord | None:
    """What pads the texts that a forward computes with, if that is certain."""
    for id in sorted(run.flow):
        record = facts.machine.calls.get(id)
        tokenizer = record.receiver if record is not None else None
        if record is not None and isinstance(tokenizer, Object) and facts.is_tokenizer(tokenizer) and pads(record):
            return record
        if record is not None and record.name.endswith(".DataCollatorWithPadding"):
            return record
    return None


# ---------------------------------------------------------------- states of all tokens


def _are_states(facts: Facts, value: Value, record: CallRecord, run: CallRecord) -> bool:
    """Whether the mean is taken of the states of all tokens as they are: no other part of the output, none in another shape."""
    wholes = {id(part): (name, whole) for (_, name), (whole, part) in facts.machine.parts.items()}
    if id(value) in wholes:
        return _is_part_of_states(facts, value, wholes, run)
    function = record.frame.function.node if record.frame.function is not None else facts.source.tree
    node = record.node
    if not isinstance(node, ast.Call):
        return False
    is_method = record.name == "mean" and isinstance(node.func, ast.Attribute)
    written = node.func.value if is_method and isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
    return written is not None and _is_written_as_states(written, function, frozenset())


def _is_part_of_states(facts: Facts, value: Value, wholes: dict[int, tuple[object, Value]], run: CallRecord) -> bool:
    name, whole = wholes.get(id(value), (None, None))
    if name == "last_hidden_state":
        return True
    is_output = isinstance(whole, Opaque) and whole.call == run.id and id(whole) not in wholes
    if is_output:
        return name == 0 and _is_base(run)
    outer = wholes.get(id(whole), (None, None))[0] if whole is not None else None
    is_layer = outer == "hidden_states" or (outer == 2 and _is_base(run))
    return isinstance(name, int) and is_layer and facts.machine.calls.get(run.id) is run


def _is_base(run: CallRecord) -> bool:
    """Whether the model has no head: then the first part of its output is what the last layer computes."""
    cls = run.receiver.cls if isinstance(run.receiver, Object) else None
    return isinstance(cls, str) and cls.endswith("Model") and "For" not in cls.rpartition(".")[2]


def _is_written_as_states(node: ast.expr, function: ast.AST, seen: frozenset[str]) -> bool:
    """The same by how it is written, where several layers are added up."""
    if isinstance(node, ast.Attribute):
        return node.attr == "last_hidden_state"
    if isinstance(node, ast.BinOp):
        sides = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
        return bool(sides) and all(_is_written_as_states(side, function, seen) for side in sides)
    if isinstance(node, ast.Subscript):
        is_layer = isinstance(node.slice, (ast.Constant, ast.UnaryOp))
        return is_layer and _is_written_as_layers(node.value, function)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        # A method of the states, or a function that is given them.
        given = [part for part in (inner, *node.args[:1]) if part is not None]
        return name in _SAME_SHAPE and any(_is_written_as_states(part, function, seen) for part in given)
    if not isinstance(node, ast.Name) or node.id in seen:
        return isinstance(node, ast.Name)  # what it held before; the other assignments say what that is
    given = _assigned(node, function)
    return bool(given) and all(_is_written_as_states(one, function, seen | {node.id}) for one in given)


def _is_written_as_layers(node: ast.expr, function: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "hidden_states"
    given = _assigned(node, function)
    return bool(given) and all(isinstance(one, ast.Attribute) and one.attr == "hidden_states" for one in given)


def _assigned(node: ast.expr, function: ast.AST) -> list[ast.expr]:
    """What a variable is assigned in the function."""
    name = node.id if isinstance(node, ast.Name) else None
    statements = (each for each in ast.walk(function) if isinstance(each, ast.Assign) and name is not None)
    return [
        statement.value
        for statement in statements
        if any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    ]
