"""Calls: into functions and classes of the program, of builtins, and of what is not known."""

from __future__ import annotations

import ast

from llm_lsp.facts.access import is_ids
from llm_lsp.facts.contexts import ENTERS, Contexts, makes_contexts
from llm_lsp.facts.events import NO_ARGUMENTS, Arguments, CallRecord, Frame
from llm_lsp.facts.machine import AUTOCAST, GRADIENTS, OFF, ON
from llm_lsp.facts.model_states import is_device, is_module_class
from llm_lsp.facts.store import Store
from llm_lsp.facts.values import (
    ANYTHING,
    Bound,
    Class,
    Constant,
    Function,
    Imported,
    Module,
    Object,
    Opaque,
    Partial,
    Sources,
    Symbol,
    Tuple,
    Union,
    Value,
    join,
    options,
)
from llm_lsp.knowledge import library

__all__ = ["Calls"]

_DEEPEST = 6
_DEEPEST_OF_ROOT = 3
_MOST_ENTRIES = 6
_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "builtins.set"})
_NONE = Constant(None)
_RECORDED = frozenset({"multinomial", "numpy"})
"""What is written down of the methods that no gradient passes."""
_KEPT = frozenset({"detach", "argmax", "argmin", "long", "int", "tolist", "numpy", "item"})
"""Those of them whose result matters for what it was computed from, or since it is a tensor no more."""


class Calls(Contexts):
    """Decides what a call calls, and does it."""

    __slots__ = ()

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        if isinstance(callee, Symbol):
            return self.call_symbol(callee.name, arguments, node)
        if isinstance(callee, Function):
            return self.enter(callee, arguments, node)
        if isinstance(callee, Bound):
            return self.enter(callee.function, arguments, node, callee.receiver)
        if isinstance(callee, Class):
            return self.instantiate(callee, arguments, node)
        if isinstance(callee, Object):
            return self.call_object(callee, arguments, node)
        if isinstance(callee, Partial):
            positional, keywords = (
                [*callee.positional, *arguments.positional],
                {**callee.keywords, **arguments.keywords},
            )
            whole = Arguments(positional, keywords, arguments.spread, is_complete=arguments.is_complete)
            return self.call(callee.callee, whole, node)
        if isinstance(callee, Union):
            result: Value | None = None
            for option, _ in callee.options:
                found = self.call(option, arguments, node)
                result = found if result is None else join(result, found)
            return result or ANYTHING
        given = arguments.positional
        if isinstance(callee, Opaque) and callee.cls in library.SWITCHES and given and isinstance(given[0], Function):
            return given[0].decorated_by(callee)
        name = f"{callee.cls}()" if isinstance(callee, Opaque) and callee.cls is not None else ""
        return self.unresolved(name, None, arguments, node, callee)

    def unresolved(
        self, name: str, receiver: Value | None, arguments: Arguments, node: ast.AST, callee: Value = ANYTHING
    ) -> Value:
        """Nobody knows what this does."""
        self.examine_lengths(arguments.values())
        call = self.record(node, name, receiver, arguments, is_resolved=False)
        last = name.rpartition(".")[2]
        self.change_by_name(last.lower(), arguments)
        self.give_away(last, library.COMPUTED_WITHOUT_BACKWARD, arguments)
        self.graph_ids.add(call.id)
        call.result = Opaque(None, self.flow_of(arguments) | callee.sources | {call.id}, call.id)
        return call.result

    def change_by_name(self, name: str, arguments: Arguments) -> None:
        """What the name of an unknown function says that it does to the models that it is given."""
        freezes = "freeze" in name and "unfreeze" not in name
        resizes = any(word in name for word in library.RESIZES)
        if not freezes and not resizes:
            return
        for value in arguments.values():
            for option, _ in options(value):
                if isinstance(option, Object) and freezes:
                    self.frozen.add(option.id)
                elif isinstance(option, Object):
                    self.used(option, "resize_token_embeddings")

    def call_symbol(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        root = name.partition(".")[0]
        if root == "builtins":
            return self.call_builtin(name[9:], arguments, node)
        if root in library.LIBRARY_ROOTS:
            return self.library_call(name, arguments, node)
        result = self.unresolved(name, None, arguments, node)
        last = name.rpartition(".")[2]
        if last[:1].isupper():
            # A class that is not seen: what it makes has an identity, and shows by its use what it is.
            made = self.outside(last, node)
            made.call = self.site(node, "call")
            return made
        return result

    # ------------------------------------------------------------ objects

    def call_object(self, callee: Object, arguments: Arguments, node: ast.AST) -> Value:
        kind = self.kind(callee)
        if kind in {"tokenizer", "processor"}:
            return self.call_tokenizer(callee, arguments, node)
        if kind in {"model", "module"}:
            return self.call_module(callee, arguments, node)
        if kind in {"loss", "pipeline", "embedder"}:
            call = self.record(node, "()", callee, arguments)
            call.state = self.state_of(callee)
            self.note_text(call)
            call.result = Opaque(None, self.flow_of(arguments) if kind == "loss" else frozenset((call.id,)), call.id)
            return call.result
        owner = callee.parent
        if owner is not None and callee.name in library.METHODS_TAKEN and self.kind(owner) in {"model", "tokenizer"}:
            return self.library_method(owner, callee.name, arguments, node)
        if isinstance(callee.cls, Class):
            method = callee.cls.find("__call__")
            if isinstance(method, Function):
                return self.enter(method, arguments, node, callee)
        call = self.record(node, "()", callee, arguments, is_resolved=False)
        call.state = self.state_of(callee)
        self.used(callee, "()")
        self.graph_ids.add(call.id)
        if "eval" not in self.uses.get(callee.id, ()):
            # What has a mode is a module, and calls no `backward`.
            self.give_away(callee.name, library.CALLED_WITHOUT_BACKWARD, arguments)
        call.result = Opaque(None, self.flow_of(arguments) | {call.id}, call.id)
        return call.result

    def give_away(self, name: str, words: tuple[str, ...], arguments: Arguments) -> None:
        """Something unknown gets the arguments; what becomes of tensors is known where its name says that it computes."""
        only_computes = library.only_computes(name, words, arguments.keywords)
        for value in arguments.values():
            if not only_computes or isinstance(value, (Function, Union)):
                self.escape(value)

    def call_method(self, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        if name in ENTERS and not (isinstance(receiver, Opaque) and receiver.cls == "super"):
            return self.enter_by_method(receiver, name, arguments, node)
        if isinstance(receiver, Object):
            return self.method_of_object(receiver, name, arguments, node)
        is_group = isinstance(receiver, Function) and name in library.GROUP_DECORATORS and receiver.is_group
        if is_group or type(receiver) is Imported or isinstance(receiver, Module):
            return self.call(self.attribute(receiver, name, node), arguments, node)
        if isinstance(receiver, Symbol):
            return self.call_symbol(f"{receiver.name}.{name}", arguments, node)
        if isinstance(receiver, Opaque):
            if receiver.cls == "super":
                return self.call_super(name, arguments, node)
            return self.method_of_opaque(receiver, name, arguments, node)
        if isinstance(receiver, Union):
            result: Value | None = None
            for option, _ in receiver.options:
                found = self.call_method(option, name, arguments, node)
                result = found if result is None else join(result, found)
            return result or ANYTHING
        if isinstance(receiver, Class):
            return self.method_of_class(receiver, name, arguments, node)
        if isinstance(receiver, Constant):
            return self.method_of_constant(receiver, name, arguments, node)
        return Opaque(None, self.flow(receiver) | self.flow_of(arguments))

    def method_of_class(self, receiver: Class, name: str, arguments: Arguments, node: ast.AST) -> Value:
        member = receiver.find(name)
        if isinstance(member, Function):
            decorators = {value.name for value in member.decorators if isinstance(value, Symbol)}
            owner = receiver if "builtins.classmethod" in decorators else None
            return self.enter(member, arguments, node, owner)
        if member is not None:
            return self.call(member, arguments, node)
        if name in {"from_pretrained", "from_config"} and self.kind_of_class(receiver) is not None:
            return self.loaded_class(receiver, name, arguments, node)
        return self.unresolved(name, receiver, arguments, node)

    def loaded_class(self, cls: Class, how: str, arguments: Arguments, node: ast.AST) -> Value:
        call = self.record(node, how, cls, arguments)
        made = self.loaded("", self.kind_of_class(cls) or "", how, call, arguments, node)
        if isinstance(made, Object):
            made.cls = cls
        return made

    def method_of_object(self, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
        held = self.heap.get((receiver.id, name))
        if held is not None:
            return self.call(held, arguments, node)
        cls = receiver.cls
        if isinstance(cls, Class):
            member = cls.find(name)
            if isinstance(member, Function):
                bound = self.bind(receiver, member, node)
                return self.call(bound, arguments, node)
            if member is not None:
                return self.call(member, arguments, node)
            if self.kind(receiver) in {"model", "module"} and name in library.MODULE_METHODS:
                return self.library_method(receiver, name, arguments, node)
            if name in library.BACKWARD_METHODS or name in library.HARMLESS_METHODS:
                return self.library_method(receiver, name, arguments, node)
            return self.call_object(self.child(receiver, name, node), arguments, node)
        if cls in _CONTAINERS:
            return self.method_of_container(receiver, name, arguments, node)
        if cls == "argparse.ArgumentParser":
            return self.method_of_parser(receiver, name, arguments)
        if name == "tokenizer" and self.kind(receiver) == "processor":
            return self.call(self.attribute(receiver, name, node), arguments, node)
        return self.library_method(receiver, name, arguments, node)

    def method_of_opaque(self, receiver: Opaque, name: str, arguments: Arguments, node: ast.AST) -> Value:
        sources = receiver.sources
        if receiver.cls == "length":
            return receiver
        if receiver.cls is not None and not receiver.cls.startswith(("torch.", "transformers.")):
            self.examine_lengths(arguments.values())
        given = self.flow_of(arguments)
        if name in library.BACKWARD_METHODS:
            self.compute_gradients(self.record(node, name, receiver, arguments), [receiver, *arguments.values()])
            return ANYTHING
        # A model or a config that the program makes has no sources, and may be changed all the same.
        is_unknown = receiver.cls is None and not sources and name not in library.HARMLESS_METHODS
        if is_unknown and (given or any(type(value) is Object for value in arguments.values())):
            return self.unresolved(name, receiver, arguments, node, receiver)
        if name in library.PREPARE_METHODS and arguments.positional:
            positional = arguments.positional
            return positional[0] if len(positional) == 1 else Tuple(tuple(positional))
        if name in library.NOT_DIFFERENTIABLE:
            return self.detached(receiver, name, arguments, node, sources | given)
        call = self.record(node, name, receiver, arguments)
        self.note_change(call, sources, given)
        if name == "sum" and receiver.cls == library.MASK:
            return Opaque("length", sources, call.id)
        mapped = self.map_over(receiver, name, arguments, node)
        if mapped is not None:
            return mapped
        if name == "items":
            return Opaque("items", sources, call.id)
        is_same = _returns_receiver(name, arguments)
        cls = _class_of_result(receiver, name, arguments, is_same=is_same)
        result = Opaque(cls, sources | given or frozenset((call.id,)), receiver.call if is_same else call.id)
        if is_same:
            self.note_derived(result, name, receiver)
        return result

    def detached(self, receiver: Opaque, name: str, arguments: Arguments, node: ast.AST, sources: Sources) -> Value:
        """What a method returns that no gradient passes."""
        if name in _RECORDED:
            self.record(node, name, receiver, arguments)
        cls = "length" if name in {"size", "numel"} else library.of_ids(name) if is_ids(receiver) else None
        result = Opaque(cls, self.without_graph(sources))
        if name in _KEPT:
            self.note_derived(result, name, receiver)
        return result

    def note_change(self, call: CallRecord, sources: Sources, given: Sources) -> None:
        """What a method changes of what it is called on."""
        if call.name == "requires_grad_":
            self.frozen |= sources
        elif call.name == "eval" and isinstance(call.receiver, Opaque) and call.receiver.call is not None:
            self.put_in_evaluation.add(call.receiver.call)
        elif call.name == "fit":
            self.note_weights(call)
        elif call.name.endswith("_") and not call.name.endswith("__"):
            # What is written into a tensor goes wherever that goes, and nobody follows it.
            self.escaped |= given & self.graph_ids - sources

    # ------------------------------------------------------------ functions of the program

    def enter(self, function: Function, arguments: Arguments, node: ast.AST, receiver: Value | None = None) -> Value:
        caller = self.frame
        if not self.is_worth_entering(function, arguments, receiver):
            return self.unresolved(function.name, receiver, arguments, node)
        entries = self.entered.get(function.node, 0)
        is_too_deep = caller.depth >= (_DEEPEST if caller.is_of_script else _DEEPEST_OF_ROOT)
        if is_too_deep or entries >= _MOST_ENTRIES or caller.runs(function.node) or not self.is_complete:
            # It is called after all: what holds where it runs is not known.
            self.handed_over.setdefault(function.node, True)
            return self.unresolved(function.name, receiver, arguments, node)
        self.entered[function.node] = entries + 1
        if self.heap[GRADIENTS] is not ON:
            self.called_quietly.add(function.name)
        if function.node in self.roots:
            self.superseded.add(self.roots[function.node])
        frame = self.frame_of(function, node, caller)
        self.bind_parameters(function, arguments, receiver, frame)
        if makes_contexts(function):
            before = self.heap[GRADIENTS], self.heap[AUTOCAST]
            return self.generated_context(function, self.run(function, frame), before, node)
        if self.heap[GRADIENTS] is OFF and self.is_generator(function.node):
            return self.deferred_to(function, frame, node)
        return self.run(function, frame)

    def deferred_to(self, function: Function, frame: Frame, node: ast.AST) -> Value:
        """A generator that is made under `no_grad`: its body runs where somebody iterates, in the context there.

        Run here as well, with gradients unknown, for what it does to objects; an iteration that is seen runs it again.
        """
        made = self.make("builtins.generator", node)
        self.deferred[made.id] = (function, frame, dict(frame.locals))
        self.heap[GRADIENTS] = ANYTHING
        self.heap[made.id, "each"] = self.run(function, frame)
        self.heap[GRADIENTS] = OFF
        return made

    def is_generator(self, node: ast.AST) -> bool:
        known = self.yields.get(node)
        if known is None:
            known = self.yields[node] = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node))
        return known

    def iterate(self, value: Value, node: ast.AST) -> Value:
        waiting = self.deferred.get(value.id) if isinstance(value, Object) else None
        if waiting is not None and isinstance(value, Object):
            function, frame, variables = waiting
            frame.locals, frame.returns = Store(self.trail), []
            frame.locals.update(variables)
            self.heap[value.id, "each"] = self.run(function, frame)
        return super().iterate(value, node)

    def frame_of(self, function: Function, node: ast.AST, caller: Frame) -> Frame:
        """The same frame each time a loop comes by, so that what happens in it keeps its identity."""
        index = self.site(node, f"frame {id(function.node)}")
        for frame in self.frames_by_site.get(index, ()):
            frame.locals, frame.returns, frame.loops, frame.guards = Store(self.trail), [], caller.loops, caller.guards
            return frame
        frame = self.new_frame(function, node, caller, function.frame)
        frame.loops, frame.guards = caller.loops, caller.guards
        self.frames_by_site[index] = (frame,)
        return frame

    def bind_parameters(self, function: Function, arguments: Arguments, receiver: Value | None, frame: Frame) -> None:
        declared = function.node.args
        names = [argument.arg for argument in (*declared.posonlyargs, *declared.args)]
        positional = arguments.positional if receiver is None else [receiver, *arguments.positional]
        values: dict[str, Value] = dict(zip(names, positional, strict=False))
        frame.receiver = receiver
        keyword_names = {argument.arg for argument in declared.kwonlyargs}
        rest: dict[str, Value] = {}
        for name, value in arguments.keywords.items():
            if name in keyword_names or name in names:
                values[name] = value
            else:
                rest[name] = value
        hidden = Opaque(None, self.flow_of(Arguments([], {}, arguments.spread)))
        for name in (*names, *keyword_names):
            if name not in values:
                default = function.defaults.get(name, ANYTHING)
                values[name] = default if arguments.is_complete else join(hidden, default)
        if declared.vararg is not None:
            more = tuple(positional[len(names) :])
            values[declared.vararg.arg] = (
                Tuple(more) if arguments.is_complete else Opaque(None, self.flow(Tuple(more)) | hidden.sources)
            )
        if declared.kwarg is not None:
            # In the frame that is entered: what one call passes is not what the next one from here does.
            self.frame, caller = frame, self.frame
            made = self.make("builtins.dict", declared.kwarg)
            self.frame = caller
            for name, value in rest.items():
                self.heap[made.id, f"[{name!r}]"] = value
            each: Value = self.join_all(list(rest.values())) if rest else ANYTHING
            self.heap[made.id, "each"] = join(each, hidden) if hidden.sources else each
            self.heap[made.id, "keys"] = Constant(tuple(rest)) if arguments.is_complete else ANYTHING
            values[declared.kwarg.arg] = made
        frame.locals.update(values)

    def run(self, function: Function, frame: Frame) -> Value:
        """Run the body in `frame`; the present frame is the caller's again afterwards."""
        caller = self.frame
        gradients, autocast = self.heap[GRADIENTS], self.heap[AUTOCAST]
        is_decorated = self.apply_decorators(function)
        self.frame = frame
        frame.mark = self.trail.mark()
        node = function.node
        result: Value = ANYTHING
        result = self.evaluate(node.body) if isinstance(node, ast.Lambda) else self.run_body(node.body, frame)
        self.frame = caller
        if is_decorated:
            self.heap[GRADIENTS], self.heap[AUTOCAST] = gradients, autocast
        return result

    def run_body(self, body: list[ast.stmt], frame: Frame) -> Value:
        """What the body returns; the state is then where all its returns meet."""
        last = body[-1]
        # A last `return` with none before it is the state as it is: nothing is collected and undone for it.
        if isinstance(last, ast.Return) and self.run_block(body[:-1]):
            self.step(1)
            result = self.evaluate(last.value) if last.value is not None else _NONE
            self.note_together(result)
            if not frame.returns:
                self.trail.drop(frame.locals, frame.mark)
                return result
            self.leave(result)
        elif not isinstance(last, ast.Return) and self.run_block(body):
            if not frame.returns:
                self.trail.drop(frame.locals, frame.mark)
                return _NONE
            self.leave(_NONE)
        if not frame.returns:
            return ANYTHING
        self.trail.undo(frame.mark)
        self.trail.meet(frame.mark, [changes for _, changes, _ in frame.returns])
        return self.join_returns(frame)

    def join_returns(self, frame: Frame) -> Value:
        """One of the returned values; of `if test: return a` and what follows it, `a` if the test came out true."""
        result, _, why = frame.returns[-1]
        later = [why]
        for value, _, why in reversed(frame.returns[:-1]):
            test, came_out = why[-1] if why else (None, True)
            decides = test is not None and all((test, not came_out) in others for others in later)
            first, second = (value, result) if came_out else (result, value)
            result = join(first, second, test if decides else None)
            later.append(why)
        return result

    def call_super(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        frame: Frame | None = self.frame
        while frame is not None and (frame.function is None or frame.function.owner is None):
            frame = self.frames[frame.scope] if frame.scope >= 0 else None
        if frame is None or frame.function is None or frame.function.owner is None:
            return self.unresolved(name, None, arguments, node)
        for base in frame.function.owner.lineage()[1:]:
            member = base.namespace.get(name)
            if isinstance(member, Function):
                return self.enter(member, arguments, node, frame.receiver)
        if name.startswith("__"):
            return _NONE
        receiver = frame.receiver
        call = self.record(node, "super." + name, receiver, arguments)
        self.graph_ids.add(call.id)
        return Opaque(None, self.flow_of(arguments) | {call.id}, call.id)

    # ------------------------------------------------------------ classes of the program

    def instantiate(self, cls: Class, arguments: Arguments, node: ast.AST) -> Value:
        call = self.record(node, cls.node.name, cls, arguments)
        made = self.make(cls, node, call.id)
        if self.frame.root.id == 0:
            known = self.made.setdefault(cls.node, [])
            if all(other.id != made.id for other in known):
                known.append(made)
        if is_module_class(cls):
            self.new_module(made)
        elif self.kind_of_class(cls) == "trainer":
            call.flow = self.flow_of(arguments)
            self.note_weights(call)
            for value in arguments.values():
                self.placed_unseen(value)
        initialise = cls.find("__init__")
        if isinstance(initialise, Function):
            self.enter(initialise, arguments, node, made)
        else:
            if cls.has_unknown_base():
                for value in arguments.values():
                    self.escape(value)
            self.set_fields(cls, made, arguments)
        after = cls.find("__post_init__")
        if isinstance(after, Function):
            self.enter(after, NO_ARGUMENTS, node, made)
        call.result = made
        return made

    def set_fields(self, cls: Class, made: Object, arguments: Arguments) -> None:
        """Dataclasses, named tuples and their like: arguments become attributes."""
        for name, value in (*zip(cls.fields(), arguments.positional, strict=False), *arguments.keywords.items()):
            self.heap[made.id, name] = value

    # ------------------------------------------------------------ builtins


def _returns_receiver(name: str, arguments: Arguments) -> bool:
    """Whether a method gives the same thing back, moved or switched."""
    if name == "to":
        return not any(isinstance(value, Symbol) for value in arguments.values())
    return name in {"cuda", "cpu", "eval", "train"}


def _class_of_result(receiver: Opaque, name: str, arguments: Arguments, *, is_same: bool) -> str | None:
    """What a method of something that is not followed returns, as far as a rule asks."""
    cls = receiver.cls
    if is_ids(receiver) and name in library.ID_METHODS:
        return cls
    if name == "float" and not arguments.values():
        return library.FLOAT32
    if is_same:
        is_float32 = str(cls).startswith(library.FEATURES) or cls in library.FLOAT32_TENSORS
        is_moved = all(is_device(value) for value in arguments.positional) and "dtype" not in arguments.keywords
        return cls if is_moved or not is_float32 else None
    if cls is not None and not cls.startswith(("torch.", "transformers.", "builtins.")):
        return f"{cls}.{name}"
    return None
