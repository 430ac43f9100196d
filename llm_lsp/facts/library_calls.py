"""What calls of library functions, and of methods of library objects, do to the state."""

from __future__ import annotations

import ast
from collections.abc import Callable

from llm_lsp.facts.events import Arguments, CallRecord
from llm_lsp.facts.expressions import Expressions
from llm_lsp.facts.machine import GRADIENTS, OFF, ON
from llm_lsp.facts.values import (
    ANYTHING,
    Bound,
    Class,
    Constant,
    Function,
    Object,
    Opaque,
    Partial,
    Symbol,
    Tuple,
    Value,
    one_of,
    options,
)
from llm_lsp.knowledge import library

__all__ = ["LibraryCalls"]

_LOADERS = ("from_pretrained", "from_config", "from_checkpoint")
_FIRST_ARGUMENTS = ("model", "pretrained_model_name_or_path", "module", "base_model")
_TOKENIZES = frozenset(
    {
        "encode",
        "encode_plus",
        "batch_encode_plus",
        "apply_chat_template",
        "tokenize",
        "pad",
        "prepare_for_model",
        "convert_tokens_to_ids",
    }
)


def map_options(value: Value, change: Callable[[Value], Value]) -> Value:
    """`change` of each thing that the value may be, under the same conditions."""
    return one_of([(change(option), conditions) for option, conditions in options(value)])


class LibraryCalls(Expressions):
    """Calls whose callee a library defines."""

    def library_call(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """The function or class of a library that is called by its qualified name."""
        name = library.canonical(name)
        if not name.startswith("torch."):
            self.examine_lengths(arguments.values())
        call = self.record(node, name, None, arguments)
        self.hand_over(arguments, in_any_context=library.calls_in_any_context(name))
        if name in library.GRADIENTS_SET:
            wanted = arguments.get("mode", 0)
            self.heap[GRADIENTS] = (
                Constant(bool(wanted.value)) if isinstance(wanted, Constant) and not wanted.may else ANYTHING
            )
        elif name in library.BACKWARD_FUNCTIONS:
            self.reached_gradient |= self.flow_of(arguments)
        call.result = self.result_of_library_call(name, call, arguments, node)
        return call.result

    def result_of_library_call(self, name: str, call: CallRecord, arguments: Arguments, node: ast.AST) -> Value:
        if name in library.WRAPPERS:
            wrapped = next((arguments.get(key) for key in _FIRST_ARGUMENTS if arguments.get(key) is not None), None)
            wrapped = wrapped or arguments.get("model", 0)
            if wrapped is None:
                return ANYTHING
            if name in library.ADAPTING:
                adapted = {option.id for option, _ in options(wrapped) if isinstance(option, Object)}
                self.frozen |= adapted
                if name in library.MAKES_ADAPTERS:
                    self.adapted |= adapted
            elif name.startswith("accelerate."):
                self.placed_unseen(wrapped)
            return wrapped
        if name == "deepspeed.initialize":
            engine, optimizer = arguments.get("model", 1), arguments.get("optimizer", 2)
            self.placed_unseen(engine or ANYTHING)
            return Tuple((engine or ANYTHING, optimizer or ANYTHING, ANYTHING, ANYTHING))
        if name in library.NAMESPACES:
            made = self.make(name, node, call.id)
            for key, value in arguments.keywords.items():
                self.heap[made.id, key] = value
            return made
        if name in library.COPIES:
            original = arguments.get("x", 0) or ANYTHING
            return self.copied(original, call, node) if isinstance(original, Object) else original
        if name in {"os.environ.get", "os.getenv"}:
            default = arguments.get("default", 1)
            return self.vague(default) if isinstance(default, Constant) and default.value is not None else Opaque(name)
        if name == "functools.partial" and arguments.positional and arguments.is_complete:
            return Partial(arguments.positional[0], arguments.positional[1:], arguments.keywords)
        owner, _, last = name.rpartition(".")
        if last in _LOADERS and owner:
            kind = library.kind_of(owner)
            if kind is not None:
                return self.loaded(owner, kind, last, call, arguments, node)
        kind = library.kind_of(name)
        if kind is not None:
            made = self.make(name, node, call.id)
            if kind in {"model", "module"}:
                self.new_module(made)
            elif kind == "embedder":
                self.heap[made.id, "#training"] = OFF
            elif kind in {"trainer", "pipeline"}:
                self.items_of_datasets(arguments, node)
                call.flow = self.flow_of(arguments)
                for value in arguments.values():
                    self.placed_unseen(value)
                if kind == "pipeline":
                    self.new_pipeline(made, arguments, node)
            return made
        if name in library.TRACKED_CLASSES:
            return self.make(name, node, call.id)
        if last == "DataLoader":
            self.items_of_datasets(arguments, node)
        collate = arguments.get("collate_fn") if last == "DataLoader" else None
        if not name.startswith("torch."):
            for value in arguments.values():
                if isinstance(value, Object) and self.kind(value) == "model":
                    self.placed_unseen(value)
        sources = self.flow_of(arguments)
        if isinstance(collate, (Function, Bound, Partial)):
            dataset = arguments.get("dataset", 0) or ANYTHING
            batch = self.make("builtins.list", node)
            self.heap[batch.id, "each"] = self.iterate(dataset, node)
            sources = sources | self.flow(self.call(collate, Arguments([batch], {}), node))
        if last in library.NOT_DIFFERENTIABLE or not name.startswith(("torch.", "einops.", "copy.")):
            sources = self.without_graph(sources)
        if name in library.STARTERS:
            self.start(name, arguments, node)
        if name in library.JOINERS and self.holds_float32(arguments.get("tensors", 0)):
            return Opaque(library.FLOAT32, sources, call.id)
        return Opaque(name, sources or frozenset((call.id,)), call.id)

    def holds_float32(self, tensors: Value | None) -> bool:
        """Whether one of a list's tensors certainly is float32: then what they are joined to is, too."""
        held = self.heap.get((tensors.id, "items")) if isinstance(tensors, Object) else tensors
        items = held.items if isinstance(held, Tuple) else ()
        return any(isinstance(item, Opaque) and item.cls == library.FLOAT32 for item in items)

    def start(self, name: str, arguments: Arguments, node: ast.AST) -> None:
        """`Thread(target=model.generate, kwargs=...)` calls what it is given, if that is a model's or a tokenizer's."""
        position = library.STARTERS[name]
        target = arguments.get("target", position)
        if not isinstance(target, Object):
            return
        if name not in library.TAKES_A_TARGET:
            rest = arguments.positional[position + 1 :]
            given = Arguments(rest, arguments.keywords, arguments.spread, is_complete=False)
        else:
            positional = arguments.get("args") or ANYTHING
            named = arguments.get("kwargs") or ANYTHING
            items = list(positional.items) if isinstance(positional, Tuple) else []
            known = self.known_items(named)
            given = Arguments(items, known or {}, (positional, named), is_complete=known is not None)
        self.call(target, given, node)

    def items_of_datasets(self, arguments: Arguments, node: ast.AST) -> None:
        """A loader or trainer takes items from the datasets of the program that it is given."""
        for value in arguments.values():
            if isinstance(value, Object) and isinstance(value.cls, Class):
                take = value.cls.find("__getitem__") or value.cls.find("__iter__")
                if isinstance(take, Function):
                    given: list[Value] = [ANYTHING] if take.name == "__getitem__" else []
                    self.heap[value.id, "each"] = self.call(Bound(value, take), Arguments(given, {}), node)

    def new_pipeline(self, made: Object, arguments: Arguments, node: ast.AST) -> None:
        """A pipeline loads its model itself; where it puts it is known only if it is told."""
        dtype = arguments.get("dtype") or arguments.get("torch_dtype")
        self.heap[made.id, "#dtype"] = self.dtypes_of(dtype, node, ("dtype", "torch_dtype")) if dtype else ANYTHING
        device = arguments.get("device")
        if isinstance(device, Constant) and isinstance(device.value, int):
            device = Constant("cpu" if device.value < 0 else "cuda", device.node, may=device.may)
        self.heap[made.id, "#device"] = device or ANYTHING

    def map_over(self, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
        """`dataset.map(function)` and its like: the function is called with an item, and the result holds what it returns."""
        given = [value for value in arguments.values() if isinstance(value, (Function, Bound, Partial))]
        if name not in library.RUNS_WHAT_IT_IS_GIVEN or not given:
            self.hand_over(arguments, in_any_context=name not in library.STARTS_WHAT_IT_IS_GIVEN)
            if name in library.STARTERS:
                self.start(name, arguments, node)
            return None
        element = self.iterate(receiver, node)
        named = self.known_items(arguments.get("fn_kwargs") or ANYTHING) or {}
        result = self.call(given[0], Arguments([element], named, (ANYTHING,), is_complete=False), node)
        self.hand_over(Arguments([*given[1:]], {}), in_any_context=False)
        self.examine_lengths([result])
        return Opaque(None, self.flow(receiver) | self.flow(result), self.site(node, "call"))

    def examine_lengths(self, values: list[Value]) -> None:
        raise NotImplementedError

    def hand_over(self, arguments: Arguments, *, in_any_context: bool) -> None:
        """Functions given to a library are called by it."""
        for value in arguments.values():
            for option, _ in options(value):
                if isinstance(option, Function):
                    self.handed_over[option.node] = self.handed_over.get(option.node, False) or in_any_context

    # ------------------------------------------------------------ models

    def loaded(self, owner: str, kind: str, how: str, call: CallRecord, arguments: Arguments, node: ast.AST) -> Value:
        made = self.make(owner, node, call.id)
        if kind not in {"model", "pipeline"}:
            return made
        self.new_module(made)
        self.heap[made.id, "#training"] = OFF if how == "from_pretrained" else ON
        dtype = arguments.get("dtype") or arguments.get("torch_dtype")
        if dtype is not None:
            self.heap[made.id, "#dtype"] = self.dtypes_of(dtype, node, ("dtype", "torch_dtype"))
        elif how == "from_pretrained":
            # transformers 4 loads float32, transformers 5 what the checkpoint holds.
            self.heap[made.id, "#dtype"] = ANYTHING
        if arguments.get("quantization_config") or arguments.get("load_in_8bit") or arguments.get("load_in_4bit"):
            self.heap[made.id, "#dtype"] = ANYTHING
            self.heap[made.id, "#device"] = ANYTHING
        placed = arguments.get("device_map")
        if placed is not None:
            self.heap[made.id, "#device"] = placed
        if not arguments.is_complete:
            self.heap[made.id, "#dtype"] = ANYTHING
            self.heap[made.id, "#device"] = ANYTHING
        return made

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

    def placed_unseen(self, value: Value) -> None:
        """Somebody else decides from here on where a model lies and how it is cast."""
        for option, _ in options(value):
            if isinstance(option, Object):
                self.heap[option.id, "#device"] = self.heap[option.id, "#dtype"] = ANYTHING

    def new_module(self, made: Object) -> None:
        """torch makes modules in training mode, on the CPU, in float32 (`set_default_dtype` aside)."""
        self.heap[made.id, "#training"] = ON
        self.heap[made.id, "#dtype"] = Constant("float32")
        self.heap[made.id, "#device"] = Constant("cpu")

    def dtypes_of(self, value: Value, node: ast.AST, keywords: tuple[str, ...]) -> Value:
        """The floating-point types that an argument may name, asked for where it is passed."""
        written: ast.AST = node
        if isinstance(node, ast.Call):
            written = next((keyword.value for keyword in node.keywords if keyword.arg in keywords), node)
        return map_options(value, lambda option: self.dtype_of(option, written) or ANYTHING)

    def dtype_of(self, value: Value, written: ast.AST) -> Constant | None:
        """The floating-point type that a value names."""
        name = (
            value.name if isinstance(value, Symbol) else f"torch.{value.value}" if isinstance(value, Constant) else ""
        )
        known = library.FLOAT_TYPES.get(name)
        if known is None:
            return None
        return Constant(known, written if isinstance(written, ast.expr) else None)

    def state_of(self, model: Object) -> dict[str, Value]:
        """What holds of a model at this moment: `training`, `dtype`, `device`."""
        found: dict[str, Value] = {}
        for key in ("training", "dtype", "device"):
            value = self.heap.get((model.id, "#" + key))
            if value is not None:
                found[key] = value
        return found

    def move(self, model: Object, arguments: Arguments, node: ast.AST) -> None:
        """`model.to(...)`: a device, a dtype, or both."""
        if not arguments.is_complete:
            self.heap[model.id, "#device"] = self.heap[model.id, "#dtype"] = ANYTHING
        for name, value in [*(("", value) for value in arguments.positional), *arguments.keywords.items()]:
            if name == "non_blocking":
                continue
            dtypes = [self.dtype_of(option, node) for option, _ in options(value)]
            if all(dtype is not None for dtype in dtypes):
                self.heap[model.id, "#dtype"] = map_options(
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

    def method_of_module(self, model: Object, name: str, arguments: Arguments, node: ast.AST) -> None:
        """What a method of `torch.nn.Module` changes."""
        key = (model.id, "#training")
        if name == "eval":
            self.heap[key] = OFF
        elif name == "train":
            mode = arguments.get("mode", 0)
            self.heap[key] = (
                ON if mode is None else Constant(bool(mode.value)) if isinstance(mode, Constant) else ANYTHING
            )
        elif name in {"half", "float", "bfloat16", "double"}:
            wanted = {"half": "float16", "float": "float32", "bfloat16": "bfloat16", "double": "float64"}[name]
            self.heap[model.id, "#dtype"] = Constant(wanted, node if isinstance(node, ast.expr) else None)
        elif name == "cuda":
            self.heap[model.id, "#device"] = Constant("cuda")
        elif name == "cpu":
            self.heap[model.id, "#device"] = Constant("cpu")
        elif name == "to":
            self.move(model, arguments, node)
        elif name == "type":
            self.heap[model.id, "#dtype"] = ANYTHING

    # ------------------------------------------------------------ methods

    def library_method(self, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """A method of an object that a library defines, or of one that came in from outside."""
        self.examine_lengths(arguments.values())
        kind = self.kind(receiver)
        self.used(receiver, name)
        call = self.record(node, name, receiver, arguments)
        if name in library.BACKWARD_METHODS:
            self.reached_gradient |= self.flow_of(arguments) | receiver.sources
            return ANYTHING
        if name == "requires_grad_":
            self.frozen |= {receiver.id}
        mapped = self.map_over(receiver, name, arguments, node)
        if mapped is not None:
            call.result = mapped
            return mapped
        if name in library.PREPARE_METHODS and kind is None and arguments.positional:
            given = arguments.positional
            for value in given:
                self.placed_unseen(value)
            return given[0] if len(given) == 1 else Tuple(tuple(given))
        if kind == "model" and (name in library.SUBMODULES or name in library.FORWARD_METHODS):
            part = receiver if name in library.FORWARD_METHODS else self.child(receiver, name, node)
            return self.call_module(part, arguments, node)
        if kind == "pipeline" and name == "to":
            self.move(receiver, arguments, node)
            return receiver
        if kind == "pipeline" and name.startswith("enable_"):
            self.placed_unseen(receiver)
        if kind in {"model", "module"} or (kind is None and name in library.SAME_OBJECT_METHODS):
            call.state = self.state_of(receiver)
            self.method_of_module(receiver, name, arguments, node)
            if name in library.SAME_OBJECT_METHODS:
                call.result = receiver
                return receiver
        if name == "register_forward_hook":
            self.escape(receiver)
        call.result = self.result_of_method(receiver, kind, name, call, arguments, node)
        return call.result

    def result_of_method(
        self, receiver: Object, kind: str | None, name: str, call: CallRecord, arguments: Arguments, node: ast.AST
    ) -> Value:
        if kind in {"tokenizer", "processor"}:
            if name in _TOKENIZES:
                self.note_written_text(call)
                return Opaque(library.ENCODING, frozenset((call.id,)), call.id)
            if "decode" in name or name in {"convert_tokens_to_string", "convert_ids_to_tokens"}:
                sources = self.flow_of(arguments)
                # A text that is made of some of the ids is a piece.
                self.cut |= sources & self.sliced
                written = any(id in self.graph_ids or self.is_generation(id) for id in sources)
                return Opaque(None, frozenset((call.id,)) if written else sources, call.id)
            return self.part_of(receiver, name + "()", node)
        if name == "generate":
            call.flow = self.flow_of(arguments)
            return Opaque(None, self.without_graph(call.flow) | {call.id}, call.id)
        if kind in {"model", "module"}:
            self.graph_ids.add(call.id)
            return Opaque(None, self.flow_of(arguments) | {call.id}, call.id)
        if name.startswith("parse_") and receiver.cls == "transformers.HfArgumentParser":
            return self.parsed_classes(receiver, node)
        if kind in {"embedder", "pipeline", "fast tokenizer", "optimizer", "trainer", "config"}:
            # Their helpers, such as a pipeline's `_unpack_latents`, return what was made of a graph that they were given.
            return Opaque(None, (self.flow_of(arguments) & self.graph_ids) | {call.id}, call.id)
        if name in {"scale"} and arguments.positional:
            return arguments.positional[0]
        if name in {"items", "keys", "values"} and not arguments.values():
            return self.items_of(receiver, name, call, node)
        sources = self.flow_of(arguments)
        if kind is None and receiver.is_outside:
            # Whatever it is, it may be a tensor: what its methods return was computed from it.
            if name in library.NOT_DIFFERENTIABLE:
                return Opaque(
                    "length" if name in {"size", "numel"} else None, self.without_graph(sources | receiver.sources)
                )
            if name not in library.HARMLESS_METHODS:
                call.is_resolved = False
                self.escaped |= sources
                for value in arguments.values():
                    self.escape(value)
            self.graph_ids.add(call.id)
            return Opaque(None, sources | receiver.sources | {call.id}, call.id)
        return Opaque(None, self.without_graph(sources), call.id)

    def is_generation(self, id: int) -> bool:
        call = self.calls.get(id)
        return call is not None and call.name == "generate"

    def parsed_classes(self, parser: Object, node: ast.AST) -> Value:
        """One instance of each dataclass that the parser was given; a user may have set every field."""
        made = self.calls.get(parser.call) if parser.call is not None else None
        given = made.arguments.get("dataclass_types", 0) if made is not None else None
        held = self.heap.get((given.id, "items")) if isinstance(given, Object) else None
        classes = held.items if isinstance(held, Tuple) else given.items if isinstance(given, Tuple) else (given,)
        items: list[Value] = []
        for index, cls in enumerate(classes):
            items.append(self.outside(f"parsed {index}", node, cls) if isinstance(cls, Class) else ANYTHING)
        return Tuple(tuple(items))

    def items_of(self, receiver: Object, name: str, call: CallRecord, node: ast.AST) -> Value:
        each = self.heap.get((receiver.id, "each"))
        inner = each if each is not None else self.part_of(receiver, "[]", node) if receiver.is_outside else ANYTHING
        made = self.make("builtins.list", node)
        self.heap[made.id, "each"] = (
            Tuple((ANYTHING, inner)) if name == "items" else ANYTHING if name == "keys" else inner
        )
        return made

    def call_tokenizer(self, tokenizer: Object, arguments: Arguments, node: ast.AST) -> Value:
        call = self.record(node, "()", tokenizer, arguments)
        self.used(tokenizer, "()")
        self.note_written_text(call)
        cls = library.FEATURES if self.kind(tokenizer) == "processor" else library.ENCODING
        call.result = Opaque(cls, frozenset((call.id,)), call.id)
        return call.result

    def note_written_text(self, call: CallRecord) -> None:
        if self.is_written(call.arguments.get("text", 0)):
            self.written.add(call.id)

    def is_written(self, text: Value | None) -> bool:
        """Whether the text is a constant, or a list of such, and no caller of this function chose it."""
        if isinstance(text, Object):
            text = self.heap.get((text.id, "items")) or self.heap.get((text.id, "each"))
        if isinstance(text, Tuple):
            return bool(text.items) and all(self.is_written(item) for item in text.items)
        return text is not None and all(
            isinstance(option, Constant) and not option.may and self.is_of_this_function(option.node)
            for option, _ in options(text)
        )

    def is_of_this_function(self, node: ast.expr | None) -> bool:
        """Whether the expression stands in the function that runs now, or where everybody calls the function from."""
        function = self.frame.function
        if function is None:
            return True
        return node is not None and function.node.lineno <= node.lineno <= (function.node.end_lineno or 0)

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


def is_device(value: Value) -> bool:
    """Whether the value is certainly no dtype."""
    if isinstance(value, Opaque):
        return value.cls == "torch.device" or value.cls == "length"
    if isinstance(value, Object):
        return value.is_outside and ("device" in value.name or "rank" in value.name)
    return all(isinstance(option, Constant) for option, _ in options(value))


def is_module_class(cls: Class) -> bool:
    """Whether instances are called for a forward pass."""
    return any(
        base in library.MODULE_BASES or base.startswith("torch.nn.") or library.kind_of(base) == "model"
        for base in cls.library_bases()
    )
