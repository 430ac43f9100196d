"""What calls of library functions, and of methods of library objects, do to the state."""

from __future__ import annotations

import ast
from collections.abc import Callable

from llm_lsp.facts.events import NO_ARGUMENTS, Arguments, CallRecord
from llm_lsp.facts.gradients import Gradients
from llm_lsp.facts.machine import DEFAULT_DTYPE, GRADIENTS, OFF, ON
from llm_lsp.facts.values import (
    ANYTHING,
    Bound,
    Class,
    Constant,
    Function,
    Object,
    Opaque,
    Partial,
    Tuple,
    Union,
    Value,
    options,
)
from llm_lsp.knowledge import draws, library
from llm_lsp.knowledge.kinds import kind_of

__all__ = ["LibraryCalls"]

_LOADERS = ("from_pretrained", "from_config", "from_checkpoint", "from_encoder_decoder_pretrained")
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
_COMPUTES_WITH_GRAPHS = ("torch.", "einops.", "copy.")


_CALLABLE = frozenset({Function, Bound, Partial})
_MAY_BE_CALLABLE = _CALLABLE | {Union}


class LibraryCalls(Gradients):
    """Calls whose callee a library defines."""

    __slots__ = ()

    def library_call(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """The function or class of a library that is called by its qualified name."""
        name = library.canonical(name)
        if not name.startswith("torch."):
            self.examine_lengths(arguments.values())
        call = self.record(node, name, None, arguments)
        self.hand_over(arguments, name)
        self.initialise_workers(name, arguments, node)
        if name in library.GRADIENTS_SET:
            wanted = arguments.get("mode", 0)
            self.heap[GRADIENTS] = (
                Constant(bool(wanted.value)) if isinstance(wanted, Constant) and not wanted.may else ANYTHING
            )
        elif name == "torch.set_default_dtype":
            self.heap[DEFAULT_DTYPE] = self.dtypes_of(arguments.get("d", 0) or ANYTHING, node, ("d",))
        elif name in library.BACKWARD_FUNCTIONS:
            self.compute_gradients(call, arguments.values())
        elif name in library.CLIPS:
            self.note_scaling(call)
        call.result = self.result_of_library_call(name, call)
        return call.result

    def result_of_library_call(self, name: str, call: CallRecord) -> Value:
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, call)
        owner, _, last = name.rpartition(".")
        if last in _LOADERS and owner:
            kind = kind_of(owner)
            if kind is not None:
                return self.loaded(owner, kind, last, call, call.arguments, call.node)
        kind = kind_of(name)
        if kind is not None:
            return self.instance_of_library(name, kind, call)
        if name in library.TRACKED_CLASSES:
            return self.make(name, call.node, call.id)
        if not name.startswith("torch."):
            for value in call.arguments.values():
                if isinstance(value, Object) and self.kind(value) == "model":
                    self.placed_unseen(value)
        if name in library.STARTERS:
            self.start(name, call.arguments, call.node)
        sources = (
            self.batches_of(call) if last in {"DataLoader", "StatefulDataLoader"} else self.flow_of(call.arguments)
        )
        if name in draws.PYTHON_DRAWS or name in draws.NUMPY_DRAWS:
            sources |= {call.id}
        if last in library.NOT_DIFFERENTIABLE or not name.startswith(_COMPUTES_WITH_GRAPHS):
            sources = self.without_graph(sources)
        return Opaque(name, sources or frozenset((call.id,)), call.id)

    def joined_tensors(self, call: CallRecord) -> Value:
        """What a list of tensors is joined to."""
        given = call.arguments.get("tensors", 0)
        cls = library.FLOAT32 if self.holds_float32(given) else call.name
        result = Opaque(cls, self.flow_of(call.arguments) or frozenset((call.id,)), call.id)
        if isinstance(given, Object):
            self.note_derived(result, call.name, self.heap.get((given.id, "each"), ANYTHING))
        return result

    def instance_of_library(self, name: str, kind: str, call: CallRecord) -> Value:
        """An object that a library's class, or its `pipeline`, makes."""
        made = self.make(name, call.node, call.id)
        if kind in {"model", "module"}:
            self.new_module(made)
        elif kind == "embedder":
            self.heap[made.id, "#training"] = OFF
        elif kind == "optimizer":
            call.flow = self.flow_of(call.arguments)
        elif kind in {"trainer", "pipeline"}:
            self.items_of_datasets(call.arguments, call.node)
            collator = call.arguments.get("data_collator", 2) if kind == "trainer" else None
            if type(collator) is Object:
                self.collate(collator, call.arguments.get("train_dataset") or ANYTHING, call.node)
            make_model = call.arguments.get("model_init")
            if isinstance(make_model, (Function, Bound, Partial)):
                call.arguments.keywords["model"] = self.call(make_model, NO_ARGUMENTS, call.node)
            call.flow = self.flow_of(call.arguments)
            self.note_weights(call)
            for value in call.arguments.values():
                self.placed_unseen(value)
            if kind == "pipeline":
                self.new_pipeline(made, call.arguments, call.node)
        return made

    def wrapped(self, call: CallRecord) -> Value:
        """What stands for its first argument."""
        arguments = call.arguments
        given = next((arguments.get(key) for key in _FIRST_ARGUMENTS if arguments.get(key) is not None), None)
        wrapped = given or arguments.get("model", 0)
        if wrapped is None:
            return ANYTHING
        if call.name in library.ADAPTING:
            adapted = {option.id for option, _ in options(wrapped) if isinstance(option, Object)}
            self.frozen |= adapted
            if call.name in library.MAKES_ADAPTERS:
                self.adapted |= adapted
        elif call.name.startswith("accelerate."):
            self.placed_unseen(wrapped)
        return wrapped

    def engine(self, call: CallRecord) -> Value:
        """`deepspeed.initialize` gives engine, optimizer, loader and scheduler."""
        model, optimizer = call.arguments.get("model", 1), call.arguments.get("optimizer", 2)
        self.placed_unseen(model or ANYTHING)
        return Tuple((model or ANYTHING, optimizer or ANYTHING, ANYTHING, ANYTHING))

    def namespace(self, call: CallRecord) -> Value:
        made = self.make(call.name, call.node, call.id)
        for key, value in call.arguments.keywords.items():
            self.heap[made.id, key] = value
        return made

    def copy(self, call: CallRecord) -> Value:
        original = call.arguments.get("x", 0) or ANYTHING
        return self.copied(original, call, call.node) if isinstance(original, Object) else original

    def joined_path(self, call: CallRecord) -> Value:
        given = call.arguments.positional
        parts = [value.value for value in given if isinstance(value, Constant) and isinstance(value.value, str)]
        if not parts or len(parts) < len(given):
            return Opaque(call.name, self.flow_of(call.arguments) or frozenset((call.id,)), call.id)
        return Constant("/".join(parts), may=any(isinstance(value, Constant) and value.may for value in given))

    def path(self, call: CallRecord) -> Value:
        """A path is known by its text."""
        given = call.arguments.positional
        if len(given) == 1 and isinstance(given[0], Constant) and isinstance(given[0].value, str):
            return given[0]
        return self.joined_path(call)

    def environment(self, call: CallRecord) -> Value:
        """A variable of the environment holds its default, unless somebody sets it."""
        default = call.arguments.get("default", 1)
        is_known = isinstance(default, Constant) and default.value is not None
        return self.vague(default) if is_known and default is not None else Opaque(call.name)

    def partial(self, call: CallRecord) -> Value:
        given = call.arguments
        if not given.positional or not given.is_complete:
            return Opaque(call.name, self.flow_of(given) or frozenset((call.id,)), call.id)
        return Partial(given.positional[0], given.positional[1:], given.keywords)

    def batches_of(self, call: CallRecord) -> frozenset[int]:
        """What a loader's batches are computed from: the dataset's items, by way of the function that collates them."""
        arguments = call.arguments
        self.items_of_datasets(arguments, call.node)
        sources = self.flow_of(arguments)
        collate = arguments.get("collate_fn")
        if collate is None:
            return sources
        return sources | self.flow(self.collate(collate, arguments.get("dataset", 0) or ANYTHING, call.node))

    def collate(self, collator: Value, dataset: Value, node: ast.AST) -> Value:
        """A function of the program, or an instance that is called like one, makes a batch of a dataset's items."""
        if not self.is_own_callable(collator):
            return ANYTHING
        batch = self.make("builtins.list", node)
        self.heap[batch.id, "each"] = self.iterate(dataset, node)
        return self.call(collator, Arguments([batch], {}), node)

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

    def map_over(self, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
        """`dataset.map(function)` and its like: the function is called with an item, and the result holds what it returns."""
        values = arguments.values()
        if not values:
            return None
        given = [value for value in values if self.is_own_callable(value)]
        if name not in library.RUNS_WHAT_IT_IS_GIVEN or not given:
            made_by = receiver.cls if isinstance(receiver, Opaque) and receiver.cls is not None else ""
            self.hand_over(arguments, f"{made_by}.{name}")
            self.initialise_workers(name, arguments, node)
            if name in library.STARTERS:
                self.start(name, arguments, node)
            return None
        element = self.iterate(receiver, node)
        named = self.known_items(arguments.get("fn_kwargs") or ANYTHING) or {}
        result = self.call(given[0], Arguments([element], named, (ANYTHING,), is_complete=False), node)
        for function in given[1:]:
            self.give_function(function, in_any_context=False)
        self.examine_lengths([result])
        return Opaque(None, self.flow(receiver) | self.flow(result), self.site(node, "call"))

    def initialise_workers(self, name: str, arguments: Arguments, node: ast.AST) -> None:
        """`Pool(4, initializer, initargs)` calls its initializer before anything else in a worker."""
        position = 1 if name.endswith("Pool") else None
        initialise = arguments.get("initializer", position)
        if isinstance(initialise, (Function, Bound, Partial)):
            given = arguments.get("initargs", position and position + 1)
            items = list(given.items) if isinstance(given, Tuple) else []
            self.call(initialise, Arguments(items, {}), node)

    def is_own_callable(self, value: Value) -> bool:
        """Whether it is a function of the program, or an instance that is called like one."""
        if type(value) is Object:
            return isinstance(value.cls, Class) and isinstance(value.cls.find("__call__"), Function)
        return type(value) in _CALLABLE

    def hand_over(self, arguments: Arguments, callee: str) -> None:
        """Functions given to a library are called by it."""
        for value in arguments.values():
            if type(value) in _MAY_BE_CALLABLE:
                for option, _ in options(value):
                    self.give_function(option, in_any_context=self.may_switch(callee))

    def may_switch(self, name: str) -> bool:
        """Whether gradients may not be on where this function, or method, calls what it is given."""
        if library.starts_what_it_is_given(name):
            return False
        return self.heap[GRADIENTS] is not ON or library.calls_in_any_context(name)

    # ------------------------------------------------------------ methods

    def library_method(self, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """A method of an object that a library defines, or of one that came in from outside."""
        self.examine_lengths(arguments.values())
        self.used(receiver, name)
        call = self.record(node, name, receiver, arguments)
        if name in library.BACKWARD_METHODS:
            self.compute_gradients(call, [*arguments.values(), receiver])
            return ANYTHING
        if name in library.METHODS_OF_SCALING:
            self.change_scaling(receiver, name)
        elif name == "clip_grad_norm_":
            self.note_scaling(call)
        if name in library.FREEZES:
            self.frozen.add(receiver.id)
            if receiver.parent is not None and receiver.name == "[]":
                # One of the modules that `model.apply` visits, or `model.children()` gives.
                self.frozen.add(receiver.parent.id)
        mapped = self.map_over(receiver, name, arguments, node)
        if mapped is not None:
            call.result = mapped
            return mapped
        kind = self.kind(receiver)
        if name in library.PREPARE_METHODS and kind is None and arguments.positional:
            given = arguments.positional
            self.note_weights(call)
            for value in given:
                self.placed_unseen(value)
            return given[0] if len(given) == 1 else Tuple(tuple(given))
        if kind == "model" and (name in library.SUBMODULES or name in library.FORWARD_METHODS):
            part = receiver if name in library.FORWARD_METHODS else self.child(receiver, name, node)
            return self.call_module(part, arguments, node)
        if self.changes_itself(receiver, kind, name, call):
            call.result = receiver
            return receiver
        if name == "register_forward_hook":
            self.escape(receiver)
        call.result = self.result_of_method(receiver, kind, name, call)
        return call.result

    def changes_itself(self, receiver: Object, kind: str | None, name: str, call: CallRecord) -> bool:
        """Change the states of a model or pipeline by one of its methods; whether the method returns the receiver."""
        if kind == "pipeline":
            if name.startswith("enable_"):
                self.placed_unseen(receiver)
            elif name == "to":
                self.move(receiver, call.arguments, call.node)
            return name == "to"
        is_same = name in library.SAME_OBJECT_METHODS
        if kind in {"model", "module"} or (kind is None and is_same):
            call.state = self.state_of(receiver)
            self.change_by_method(receiver, name, call.arguments, call.node)
            return is_same
        return False

    def result_of_method(self, receiver: Object, kind: str | None, name: str, call: CallRecord) -> Value:
        arguments = call.arguments
        if kind in {"tokenizer", "processor"}:
            return self.result_of_tokenizer(receiver, name, call)
        if name == "generate":
            call.flow = self.flow_of(arguments)
            return Opaque(None, self.without_graph(call.flow) | {call.id}, call.id)
        if kind in {"model", "module"}:
            self.graph_ids.add(call.id)
            return Opaque(None, self.flow_of(arguments) | {call.id}, call.id)
        if name.startswith("parse_") and receiver.cls == "transformers.HfArgumentParser":
            return self.parsed_classes(receiver, call.node)
        if kind in {"embedder", "pipeline", "fast tokenizer", "optimizer", "trainer", "config"}:
            # Their helpers, such as a pipeline's `_unpack_latents`, return what was made of a graph that they were given.
            return Opaque(None, (self.flow_of(arguments) & self.graph_ids) | {call.id}, call.id)
        if name == "scale" and arguments.positional:
            return self.scaled_by(call)
        if name in {"items", "keys", "values"} and not arguments.values():
            return self.items_of(receiver, name, call.node)
        if kind is None and receiver.is_outside:
            return self.result_of_outside(receiver, name, call)
        return Opaque(None, self.without_graph(self.flow_of(arguments)), call.id)

    def result_of_tokenizer(self, tokenizer: Object, name: str, call: CallRecord) -> Value:
        if name in _TOKENIZES:
            call.state = self.settings_of(tokenizer)
            self.note_text(call)
            return Opaque(library.ENCODING, frozenset((call.id,)), call.id)
        if name in library.ADDS_TOKENS:
            call.state = self.items_given(call.arguments)
            if "pad_token" in call.state:
                self.heap[tokenizer.id, "pad_token"] = call.state["pad_token"]
        if "decode" not in name and name not in {"convert_tokens_to_string", "convert_ids_to_tokens"}:
            return self.part_of(tokenizer, name + "()", call.node)
        sources = self.flow_of(call.arguments)
        # A text that is made of some of the ids is a piece.
        self.cut |= sources & self.sliced
        is_written = any(id in self.graph_ids or self.is_generation(id) for id in sources)
        return Opaque(None, frozenset((call.id,)) if is_written else sources, call.id)

    def items_given(self, arguments: Arguments) -> dict[str, Value]:
        """What the lists and dictionaries hold that a tokenizer is given now, by name of the special token."""
        named = self.known_items(arguments.get("special_tokens_dict", 0) or ANYTHING)
        return self.written_out(named if named is not None else {"": arguments.get("new_tokens", 0) or ANYTHING})

    def result_of_outside(self, receiver: Object, name: str, call: CallRecord) -> Value:
        """Whatever it is, it may be a tensor: what its methods return was computed from it."""
        sources = self.flow_of(call.arguments)
        if name in library.NOT_DIFFERENTIABLE:
            cls = "length" if name in {"size", "numel"} else None
            return Opaque(cls, self.without_graph(sources | receiver.sources))
        if name not in library.HARMLESS_METHODS:
            call.is_resolved = False
            self.escaped |= sources
            for value in call.arguments.values():
                self.escape(value)
        self.graph_ids.add(call.id)
        return Opaque(None, sources | receiver.sources | {call.id}, call.id)

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

    def items_of(self, receiver: Object, name: str, node: ast.AST) -> Value:
        each = self.heap.get((receiver.id, "each"))
        inner = each if each is not None else self.part_of(receiver, "[]", node) if receiver.is_outside else ANYTHING
        made = self.make("builtins.list", node)
        keys = self.join_all([Constant(key) for key in self.known_keys(receiver) or ()])
        self.heap[made.id, "each"] = Tuple((keys, inner)) if name == "items" else keys if name == "keys" else inner
        return made

    def call_tokenizer(self, tokenizer: Object, arguments: Arguments, node: ast.AST) -> Value:
        call = self.record(node, "()", tokenizer, arguments)
        call.state = self.settings_of(tokenizer)
        self.used(tokenizer, "()")
        self.note_text(call)
        cls = library.FEATURES if self.kind(tokenizer) == "processor" else library.ENCODING
        call.result = Opaque(cls, frozenset((call.id,)), call.id)
        return call.result

    def note_text(self, call: CallRecord) -> None:
        """Write down what the text of a tokenization comes from, what lists hold now included, and whether it is written."""
        call.flow = self.flow_of(call.arguments)
        text = call.arguments.get("text", 0)
        if self.is_written(text):
            self.written.add(call.id)
        if isinstance(text, Object) and "apply_chat_template" in self.snippets:
            self.note_conversation(call, text)

    def note_conversation(self, call: CallRecord, texts: Object) -> None:
        """Write down the texts of a list, and who speaks last in a conversation, as they are now."""
        items = self.heap.get((texts.id, "items"))
        if call.name == "apply_chat_template":
            last = items.items[-1] if isinstance(items, Tuple) and items.items else None
            role = self.heap.get((last.id, "['role']")) if isinstance(last, Object) else None
            call.state |= {"role": role} if role is not None else {}
            return
        is_known = isinstance(items, Tuple) and items.items  # one that begins empty is filled in a loop
        each = items if is_known else self.heap.get((texts.id, "each"))
        call.state |= {"texts": each} if each is not None else {}

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


_SPECIAL: dict[str, Callable[[LibraryCalls, CallRecord], Value]] = {
    **dict.fromkeys(library.WRAPPERS, LibraryCalls.wrapped),
    **dict.fromkeys(library.NAMESPACES, LibraryCalls.namespace),
    **dict.fromkeys(library.COPIES, LibraryCalls.copy),
    **dict.fromkeys(library.JOINERS, LibraryCalls.joined_tensors),
    "transformers.DataCollatorForLanguageModeling": LibraryCalls.collator,
    "deepspeed.initialize": LibraryCalls.engine,
    "functools.partial": LibraryCalls.partial,
    "os.path.join": LibraryCalls.joined_path,
    **dict.fromkeys(("pathlib.Path", "pathlib.PurePath", "pathlib.PurePosixPath", "os.fspath"), LibraryCalls.path),
    "os.environ.get": LibraryCalls.environment,
    "os.environ.setdefault": LibraryCalls.environment,
    "os.getenv": LibraryCalls.environment,
}
