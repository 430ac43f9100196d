"""What models are in: their mode, their precision, the device they lie on; and their forward passes."""

from __future__ import annotations

import ast
from collections.abc import Callable

from llm_lsp.facts.events import Arguments, CallRecord
from llm_lsp.facts.expressions import Expressions
from llm_lsp.facts.machine import DEFAULT_DTYPE, OFF, ON
from llm_lsp.facts.values import (
    ANYTHING,
    Class,
    Constant,
    Object,
    Opaque,
    Symbol,
    Value,
    one_of,
    options,
)
from llm_lsp.knowledge import library
from llm_lsp.knowledge.kinds import kind_of

__all__ = ["TOKENIZER_SETTINGS", "ModelStates", "is_device", "is_module_class"]

TOKENIZER_SETTINGS = ("padding_side", "model_max_length", "pad_token", "pad_token_id")
"""Attributes of a tokenizer that decide what its calls return; one that nobody sets is the checkpoint's own."""
_OF_TWO = "from_encoder_decoder_pretrained"
_CASTS = {"half": "float16", "float": "float32", "bfloat16": "bfloat16", "double": "float64"}


def _map_options(value: Value, change: Callable[[Value], Value]) -> Value:
    """`change` of each thing that the value may be, under the same conditions."""
    return one_of([(change(option), conditions) for option, conditions in options(value)])


class ModelStates(Expressions):
    """Follows what models are in; the states are attributes whose names begin with `#`."""

    __slots__ = ()

    def new_module(self, made: Object) -> None:
        """Torch makes modules in training mode, on the CPU, in float32 unless `set_default_dtype` says otherwise."""
        self.heap[made.id, "#training"] = ON
        self.heap[made.id, "#dtype"] = self.heap[DEFAULT_DTYPE]
        self.heap[made.id, "#device"] = Constant("cpu")

    def placed_unseen(self, value: Value) -> None:
        """Somebody else decides from here on where a model lies and how it is cast."""
        for option, _ in options(value):
            if isinstance(option, Object):
                self.heap[option.id, "#device"] = self.heap[option.id, "#dtype"] = ANYTHING

    def state_of(self, model: Object) -> dict[str, Value]:
        """What holds of a model at this moment: `training`, `dtype`, `device`."""
        found: dict[str, Value] = {}
        for key in ("training", "dtype", "device"):
            value = self.heap.get((model.id, "#" + key))
            if value is not None:
                found[key] = value
        return found

    def settings_of(self, tokenizer: Object) -> dict[str, Value]:
        """What is set on a tokenizer at this moment."""
        found = {key: self.heap.get((tokenizer.id, key)) for key in TOKENIZER_SETTINGS}
        return {key: value for key, value in found.items() if value is not None}

    def collator(self, call: CallRecord) -> Value:
        """What pads batches, and labels by the id of the token that pads."""
        tokenizer = call.arguments.get("tokenizer", 0)
        call.state = self.settings_of(tokenizer) if isinstance(tokenizer, Object) else {}
        sources = self.without_graph(self.flow_of(call.arguments))
        return Opaque(call.name, sources or frozenset((call.id,)), call.id)

    def written_out(self, values: dict[str, Value]) -> dict[str, Value]:
        """The same with what lists hold now instead of the lists."""
        found: dict[str, Value] = {}
        for key, value in values.items():
            is_list = isinstance(value, Object) and value.cls == "builtins.list"
            found[key] = (
                self.heap.get((value.id, "items"), ANYTHING) if is_list and isinstance(value, Object) else value
            )
        return found

    def copied(self, original: Object, call: CallRecord, node: ast.AST) -> Value:
        """A module's copy has states of its own; of anything else it is enough that it is the same."""
        if original.is_outside or self.kind(original) not in {"model", "module"}:
            return original
        made = self.make(original.cls or "", node, original.call)
        for (owner, key), value in list(self.heap.items()):
            if owner == original.id:
                self.heap[made.id, key] = value
        call.result = made
        return made

    def loaded(self, owner: str, kind: str, how: str, call: CallRecord, arguments: Arguments, node: ast.AST) -> Value:
        made = self.make(owner, node, call.id)
        if kind == "tokenizer":
            for key in TOKENIZER_SETTINGS:
                self.heap[made.id, key] = arguments.get(key) or self.child(made, key, node)
            named = {key: value for key, value in arguments.keywords.items() if key in library.SPECIAL_TOKENS}
            call.state = self.written_out(named)
        config = arguments.get("config")
        if kind == "model" and isinstance(config, Object):
            found = {key: self.heap.get((config.id, key)) for key in library.POSITIONS}
            call.state = {key: value for key, value in found.items() if value is not None}
        if kind not in {"model", "pipeline"}:
            return made
        self.new_module(made)
        # A model of two that are loaded is itself in training mode, and its parts are not.
        self.heap[made.id, "#training"] = {"from_pretrained": OFF, _OF_TWO: ANYTHING}.get(how, ON)
        dtype = arguments.get("dtype") or arguments.get("torch_dtype")
        if dtype is not None:
            self.heap[made.id, "#dtype"] = self.dtypes_of(dtype, node, ("dtype", "torch_dtype"))
        elif how in {"from_pretrained", _OF_TWO}:
            # transformers 4 loads float32, transformers 5 what the checkpoint holds.
            self.heap[made.id, "#dtype"] = ANYTHING
        if arguments.get("quantization_config") or arguments.get("load_in_8bit") or arguments.get("load_in_4bit"):
            self.heap[made.id, "#dtype"] = ANYTHING
            self.heap[made.id, "#device"] = ANYTHING
        placed = arguments.get("device_map")
        if placed is not None:
            # `{"": "cpu"}` puts the whole model there.
            parts = self.known_items(placed) or {}
            where = parts[""] if [*parts] == [""] else placed
            self.heap[made.id, "#device"] = _map_options(where, _unmapped)
        if not arguments.is_complete:
            self.heap[made.id, "#dtype"] = ANYTHING
            self.heap[made.id, "#device"] = ANYTHING
        return made

    def new_pipeline(self, made: Object, arguments: Arguments, node: ast.AST) -> None:
        """A pipeline loads its model itself; where it puts it is known only if it is told."""
        dtype = arguments.get("dtype") or arguments.get("torch_dtype")
        self.heap[made.id, "#dtype"] = self.dtypes_of(dtype, node, ("dtype", "torch_dtype")) if dtype else ANYTHING
        device = arguments.get("device")
        if isinstance(device, Constant) and isinstance(device.value, int):
            device = Constant("cpu" if device.value < 0 else "cuda", device.node, may=device.may)
        self.heap[made.id, "#device"] = device or ANYTHING

    def dtypes_of(self, value: Value, node: ast.AST, keywords: tuple[str, ...]) -> Value:
        """The floating-point types that an argument may name, asked for where it is passed."""
        written: ast.AST = node
        if isinstance(node, ast.Call):
            written = next((keyword.value for keyword in node.keywords if keyword.arg in keywords), node)
        return _map_options(value, lambda option: self.dtype_of(option, written) or ANYTHING)

    def dtype_of(self, value: Value, written: ast.AST) -> Constant | None:
        """The floating-point type that a value names."""
        name = (
            value.name if isinstance(value, Symbol) else f"torch.{value.value}" if isinstance(value, Constant) else ""
        )
        known = library.FLOAT_TYPES.get(name)
        if known is None:
            return None
        return Constant(known, written if isinstance(written, ast.expr) else None)

    def move(self, model: Object, arguments: Arguments, node: ast.AST) -> None:
        """`model.to(...)`: a device, a dtype, or both."""
        if not arguments.is_complete:
            self.heap[model.id, "#device"] = self.heap[model.id, "#dtype"] = ANYTHING
        for name, value in [*(("", value) for value in arguments.positional), *arguments.keywords.items()]:
            if name == "non_blocking":
                continue
            dtypes = [self.dtype_of(option, node) for option, _ in options(value)]
            if all(dtype is not None for dtype in dtypes):
                self.heap[model.id, "#dtype"] = _map_options(
                    value, lambda option: self.dtype_of(option, node) or ANYTHING
                )
            elif name == "dtype":
                self.heap[model.id, "#dtype"] = ANYTHING
            elif isinstance(value, Constant) or name == "device":
                self.heap[model.id, "#device"] = value
            else:
                # One positional argument that may be either.
                self.heap[model.id, "#device"] = value
                if not is_device(value):
                    self.heap[model.id, "#dtype"] = ANYTHING

    def change_by_method(self, model: Object, name: str, arguments: Arguments, node: ast.AST) -> None:
        """What a method of `torch.nn.Module` changes."""
        written = node if isinstance(node, ast.expr) else None
        if name in {"eval", "train"}:
            self.note_switch(model, name, node)
            if model.is_outside and (model.id, "#training") not in self.heap and self.frame.is_in_a_branch:
                self.switched_in_a_branch.add(model.id)
            self.heap[model.id, "#training"] = OFF if name == "eval" else _mode(arguments)
        elif name in _CASTS:
            self.heap[model.id, "#dtype"] = Constant(_CASTS[name], written)
        elif name in {"cuda", "cpu"}:
            self.heap[model.id, "#device"] = Constant(name)
        elif name == "to":
            self.move(model, arguments, node)
        elif name == "type":
            self.heap[model.id, "#dtype"] = ANYTHING

    def call_module(self, module: Object, arguments: Arguments, node: ast.AST) -> Value:
        """A forward pass: its result holds a graph that leads to what went in."""
        call = self.record(node, "()", module, arguments)
        call.state = self.state_of(module if module.parent is None or not module.is_outside else module.parent)
        self.used(module, "()")
        self.graph_ids.add(call.id)
        call.flow = self.flow_of(arguments)
        passed = frozenset(source for source in call.flow if source in self.graph_ids or source not in self.calls)
        call.result = Opaque(None, passed | {call.id}, call.id)
        return call.result


def _unmapped(where: Value) -> Value:
    """Where a model lies that is mapped to nothing: on the CPU."""
    is_none = isinstance(where, Constant) and where.value is None and not where.may
    return Constant("cpu") if is_none else where


def _mode(arguments: Arguments) -> Value:
    mode = arguments.get("mode", 0)
    if mode is None:
        return ON
    return Constant(bool(mode.value)) if isinstance(mode, Constant) else ANYTHING


def is_device(value: Value) -> bool:
    """Whether the value is certainly no dtype."""
    if isinstance(value, Opaque):
        return value.cls in {"torch.device", "length"}
    if isinstance(value, Object):
        return value.is_outside and ("device" in value.name or "rank" in value.name)
    return all(isinstance(option, Constant) for option, _ in options(value))


def is_module_class(cls: Class) -> bool:
    """Whether instances are called for a forward pass."""
    return any(
        base in library.MODULE_BASES or base.startswith("torch.nn.") or kind_of(base) == "model"
        for base in cls.library_bases()
    )
