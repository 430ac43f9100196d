"""Tensors that are keys of dictionaries or members of sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import ANYTHING, Constant, Object, Opaque, Value
from llm_lsp.knowledge import tensors

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.views import Call

__all__ = ["TensorKey", "tensor_keys"]

_LONGEST_WAY = 16
_PARTS = frozenset(
    {"input_ids", "attention_mask", "labels", "token_type_ids", "sequences", "logits_per_image", *tensors.OUTPUTS}
)
_NO_TENSORS = frozenset({"tolist", "item", "numpy"})
_KEEPS_TENSOR = frozenset({"detach", "argmax", "argmin", "long", "int", "cpu", "cuda", "to", "[]", "for", "append"})
_BESTS = frozenset({"torch.argmax", "torch.argmin"})
_TEXT_TO_IDS = frozenset({"()", "encode", "encode_plus", "batch_encode_plus", "apply_chat_template", "pad"})


class TensorKey:
    """`counts[key] = ...`, or `seen.add(key)`."""

    __slots__ = ("_facts", "_key", "call")

    def __init__(self, facts: Facts, call: Call, owners: dict[int, tuple[Value, object]]) -> None:
        self._facts = facts
        self.call = call
        self._key = _is_tensor(facts, call.record.arguments.positional[0], owners)

    @property
    def is_tensor(self) -> Truth:
        """Whether the key is certainly a tensor that was computed: no parameter, which programs tell apart by identity."""
        return answer(self._key)

    @property
    def key(self) -> str:
        """The key, as it is written."""
        node = self.call.record.node
        if isinstance(node, ast.Subscript):
            return self._facts.text_of(node.slice)
        return self._facts.text_of(node.args[0]) if isinstance(node, ast.Call) and node.args else ""

    @property
    def container(self) -> str:
        """The dictionary or set, as it is written."""
        node = self.call.record.node
        if isinstance(node, ast.Call):
            node = node.func
        return self._facts.text_of(node.value) if isinstance(node, (ast.Subscript, ast.Attribute)) else ""

    @property
    def place(self) -> Place:
        return self.call.place


def tensor_keys(facts: Facts) -> Iterator[TensorKey]:
    """The keys that this module stores something under, each place once."""
    calls = [call for call in facts.calls("[]=", "add") if call.place.path == facts.source.path and _is_of_a_set(call)]
    owners = {id(part): (owner, name) for (_, name), (owner, part) in facts.machine.parts.items()} if calls else {}
    seen: set[object] = set()
    for call in calls:
        if call.place not in seen:
            seen.add(call.place)
            yield TensorKey(facts, call, owners)


def _is_of_a_set(call: Call) -> bool:
    """Whether something is stored in a dictionary or set; an empty set counts as a list, which has no `add`."""
    receiver = call.record.receiver
    cls = receiver.cls if isinstance(receiver, (Object, Opaque)) else None
    is_one = call.name == "[]=" or cls in {"builtins.set", "builtins.list"}
    return is_one and len(call.record.arguments.positional) == 1


def _is_tensor(facts: Facts, value: Value, owners: dict[int, tuple[Value, object]]) -> Truth:
    """Looks back along what the value was computed from; what a `tolist` gave is none."""
    machine = facts.machine
    is_part = False
    for _ in range(_LONGEST_WAY):
        noted = machine.derived.get(id(value))
        if noted is not None and noted[1] in _NO_TENSORS:
            return NO
        if noted is not None and noted[1] in _KEEPS_TENSOR:
            value = noted[2][0]
            continue
        if noted is None and id(value) in owners:
            value, name = owners[id(value)]
            if isinstance(name, str) and name not in _PARTS:
                return UNKNOWN
            is_part = is_part or isinstance(name, str)
            continue
        made = _call_of(facts, value)
        if noted is not None or made is None or not (tensors.keeps_type(made.name) or made.name in _BESTS):
            break
        value = made.receiver or made.arguments.get("input", 0) or ANYTHING
    made = _call_of(facts, value)
    if made is None or id(value) in machine.derived:
        return UNKNOWN
    kind = machine.kind(made.receiver) if isinstance(made.receiver, Object) else None
    if kind == "tokenizer" and made.name in _TEXT_TO_IDS:
        returned = made.arguments.get("return_tensors")
        is_told = isinstance(returned, Constant) and returned.value == "pt" and not returned.may
        # A loop over an encoding, or over an output, gives names.
        return YES if is_told and (is_part or made.name == "encode") else UNKNOWN
    is_run = (kind == "model" and made.name == "()" and is_part) or (kind == "module" and made.name == "()")
    is_generated = kind == "model" and made.name == "generate"
    return YES if is_run or is_generated or made.name in tensors.MAKERS else UNKNOWN


def _call_of(facts: Facts, value: Value) -> CallRecord | None:
    """The call that gave a value."""
    return facts.machine.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
