"""Context managers and decorators: what they switch, and for how long."""

from __future__ import annotations

import ast
from typing import TypeGuard

from llm_lsp.facts.builtin_calls import BuiltinCalls
from llm_lsp.facts.events import NO_ARGUMENTS, Arguments
from llm_lsp.facts.machine import AUTOCAST, GRADIENTS, OFF, ON
from llm_lsp.facts.values import ANYTHING, Bound, Class, Constant, Function, Object, Opaque, Symbol, Value, options
from llm_lsp.knowledge import library

__all__ = ["ENTERS", "Contexts", "is_generated_context", "makes_contexts"]

ENTERS = frozenset({"enter_context", "enter_async_context", "__enter__"})
"""Methods that enter a context until somebody leaves it, or the block around."""
_GENERATED = "contextlib._GeneratorContextManager"


class Contexts(BuiltinCalls):
    """Enters contexts, of libraries and of the program."""

    __slots__ = ()

    def enter_context(self, value: Value, node: ast.AST) -> None:
        """What holds inside a block under `value`."""
        gradients, autocast = self.heap[GRADIENTS], self.heap[AUTOCAST]
        outcomes: list[tuple[Value, Value]] = []
        for option, _ in options(value):
            self.heap[GRADIENTS], self.heap[AUTOCAST] = gradients, autocast
            name = option.name if isinstance(option, Symbol) else option.cls if isinstance(option, Opaque) else None
            if isinstance(option, Object):
                self.enter_object(option, node)
            elif name is not None:
                self.apply_context(name, option)
            else:
                made = self.calls.get(option.call) if isinstance(option, Opaque) and option.call is not None else None
                self.heap[AUTOCAST] = ANYTHING
                if made is None or made.name not in library.CONTEXTS_OF_TRAINING:
                    self.heap[GRADIENTS] = ANYTHING
            outcomes.append((self.heap[GRADIENTS], self.heap[AUTOCAST]))
        for key, states in zip((GRADIENTS, AUTOCAST), zip(*outcomes, strict=True), strict=True):
            self.heap[key] = self.join_all(list(states))

    def enter_object(self, context: Object, node: ast.AST) -> None:
        """Enter a context that has an identity: of a class or a generator function of the program, most of all."""
        if is_generated_context(context):
            for key in (GRADIENTS, AUTOCAST):
                self.heap[key] = self.heap.get((context.id, key[1]), self.heap[key])
        elif isinstance(context.cls, Class):
            enter = context.cls.find("__enter__")
            if isinstance(enter, Function):
                self.call(Bound(context, enter), NO_ARGUMENTS, node)
            for base in context.cls.library_bases():
                self.apply_context(base, context)
        elif context.cls is not None:
            self.apply_context(context.cls, context)
        else:
            self.heap[GRADIENTS] = self.heap[AUTOCAST] = ANYTHING

    def leave_context(self, value: Value, node: ast.AST) -> None:
        """Run what a context of the program does at the end of its block."""
        leave = value.cls.find("__exit__") if isinstance(value, Object) and isinstance(value.cls, Class) else None
        if isinstance(leave, Function):
            self.call(Bound(value, leave), Arguments([ANYTHING, ANYTHING, ANYTHING], {}), node)

    def enter_by_method(self, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """`stack.enter_context(context)`, or `context.__enter__()`: it stays entered."""
        context = receiver if name == "__enter__" else arguments.positional[0] if arguments.positional else ANYTHING
        self.enter_context(context, node)
        return self.given_by(context)

    def given_by(self, context: Value) -> Value:
        """What `with context as ...` binds."""
        if is_generated_context(context):
            return self.heap.get((context.id, "each")) or ANYTHING
        return context

    def generated_context(self, function: Function, result: Value, before: tuple[Value, Value], node: ast.AST) -> Value:
        """What a generator function under `@contextmanager` makes: what held at its `yield` holds in the block."""
        made = self.make(_GENERATED, node)
        held = self.yielded.pop(function.node, (ANYTHING, ANYTHING))
        for key, outside, inside in zip((GRADIENTS, AUTOCAST), before, held, strict=True):
            if inside is not outside:
                self.heap[made.id, key[1]] = inside
            self.heap[key] = outside
        self.heap[made.id, "each"] = result
        return made

    def apply_decorators(self, function: Function) -> bool:
        """Set the context that the decorators give; whether there was one."""
        changed = False
        for decorator in function.decorators:
            name = (
                decorator.name
                if isinstance(decorator, Symbol)
                else decorator.cls
                if isinstance(decorator, Opaque)
                else None
            )
            if name is None:
                if isinstance(decorator, (Function, Class, Bound)):
                    continue
                self.heap[GRADIENTS] = self.heap[AUTOCAST] = ANYTHING
                changed = True
            elif name in library.GRADIENTS_OFF and isinstance(function.node, ast.AsyncFunctionDef):
                # The context is left as soon as there is a coroutine, before its body runs (seen in torch 2.13).
                continue
            elif self.apply_context(name, decorator):
                changed = True
        return changed

    def apply_context(self, name: str, value: Value) -> bool:
        """Enter a library's context manager or decorator; whether it is one that a rule asks about."""
        if name in library.GRADIENTS_OFF:
            wanted = self.switch(value, "mode", 0)
            # `inference_mode(False)` is inference mode switched off, and gradients are on in it.
            self.heap[GRADIENTS] = OFF if wanted is ON else ON if wanted is OFF else ANYTHING
        elif name in library.GRADIENTS_ON:
            self.heap[GRADIENTS] = ON
        elif name in library.GRADIENTS_SET:
            self.heap[GRADIENTS] = self.switch(value, "mode", 0)
        elif name in library.AUTOCAST:
            self.heap[AUTOCAST] = self.switch(value, "enabled", None)
        elif name.partition(".")[0] not in library.LIBRARY_ROOTS and not name.startswith("builtins."):
            self.heap[GRADIENTS] = self.heap[AUTOCAST] = ANYTHING
        else:
            return False
        return True

    def switch(self, value: Value, name: str, position: int | None) -> Value:
        """ON or OFF as the context's argument says; ON where there is none."""
        call = self.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
        wanted = call.arguments.get(name, position) if call is not None else None
        if wanted is None:
            return ON
        if isinstance(wanted, Constant) and not wanted.may:
            return ON if wanted.value else OFF
        return ANYTHING


def is_generated_context(value: Value) -> TypeGuard[Object]:
    """Whether a generator function under `@contextmanager` made it."""
    return isinstance(value, Object) and value.cls == _GENERATED


def makes_contexts(function: Function) -> bool:
    """Whether `@contextmanager` stands over the function."""
    return any(isinstance(value, Symbol) and value.name in library.MAKES_CONTEXTS for value in function.decorators)
