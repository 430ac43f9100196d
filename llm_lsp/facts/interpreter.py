"""Statements, and the script that they are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, cast

from llm_lsp.facts.events import Arguments
from llm_lsp.facts.machine import AUTOCAST, GRADIENTS
from llm_lsp.facts.patterns import Patterns
from llm_lsp.facts.store import Changes, Store
from llm_lsp.facts.values import (
    ANYTHING,
    Bound,
    Class,
    Constant,
    Function,
    Object,
    Opaque,
    Symbol,
    Union,
    Value,
)
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.source import Source

__all__ = ["Interpreter"]

_DEEPEST_SECOND_PASS = 1


class Interpreter(Patterns):
    """Runs one module as a script."""

    __slots__ = (
        "classes_open",
        "exits",
    )

    def __init__(self, source: Source, stop: Callable[[], bool] | None) -> None:
        super().__init__(source, stop)
        self.exits: list[tuple[int, list[Changes], list[Changes]]] = []
        """For each loop that is running: the mark at its beginning, what had changed at its `break`s and its `continue`s."""
        self.classes_open: list[Class] = []

    def run_script(self) -> None:
        """Run the module as Python runs it, its `__main__` guard included."""
        self.run_block(self.tree.body)
        self.frame.guards = ()
        self.frame.loops = ()

    # ------------------------------------------------------------ statements

    def run_block(self, body: list[ast.stmt]) -> bool:
        """Run the statements in order; whether the end of the block is reached."""
        self.step(len(body))
        for statement in body:
            if not self.is_complete:
                return True
            run = _RUN.get(type(statement))
            if run is not None and not run(self, statement):
                return False
        return True

    def run_expression(self, node: ast.Expr) -> bool:
        value = self.evaluate(node.value)
        call = node.value
        if isinstance(call, (ast.Name, ast.Attribute)) and _may_become_a_call(call, value):
            self.is_half_typed = True
        return not (isinstance(call, ast.Call) and isinstance(value, Opaque) and value.cls in {"sys.exit", "os._exit"})

    def run_assign(self, node: ast.Assign) -> bool:
        value = self.evaluate(node.value)
        if type(node.value) is ast.BinOp and type(value) is Opaque:
            value = self.sum_of(node, value)
        for target in node.targets:
            self.assign(target, value)
        return True

    def run_annotated(self, node: ast.AnnAssign) -> bool:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))
        return True

    def run_return(self, node: ast.Return) -> bool:
        value = self.evaluate(node.value) if node.value is not None else Constant(None)
        self.note_together(value)
        self.leave(value)
        return False

    def run_raise(self, node: ast.Raise) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.evaluate(part)
        return False

    def run_assert(self, node: ast.Assert) -> bool:
        self.evaluate(node.test)
        if node.msg is not None:
            self.evaluate(node.msg)
        return not (isinstance(node.test, ast.Constant) and not node.test.value)

    def run_delete(self, node: ast.Delete) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.frame.locals.forget(target.id)
            elif isinstance(target, ast.Subscript):
                self.forget_item(self.evaluate(target.value), self.evaluate(target.slice))
        return True

    def run_outer(self, node: ast.Global | ast.Nonlocal) -> bool:
        self.frame.outer |= frozenset(node.names)
        return True

    # ------------------------------------------------------------ definitions

    def run_import(self, node: ast.Import | ast.ImportFrom) -> bool:
        raise NotImplementedError

    def run_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        decorators = tuple(self.evaluate(decorator) for decorator in node.decorator_list)
        # A decorator that runs in a class body defines no methods.
        is_method = bool(self.classes_open) and self.frame.call is self.classes_open[-1].node
        owner = self.classes_open[-1] if is_method else None
        scope = self.frame.id
        if owner is not None:
            scope = self.frame.scope
        defaults = {**self.defaults_of(node.args), **self.options_of(decorators)}
        function = Function(node, scope, owner, decorators, defaults)
        if self.module_frame().id == 0:
            self.functions[node] = function
        value: Value = function
        for decorator in reversed(decorators):
            if isinstance(decorator, (Function, Class, Bound)):
                wrapped = self.call(decorator, Arguments([value], {}), node)
                # What is not known may call it under any context.
                value = wrapped if isinstance(wrapped, (Function, Object)) else function.decorated_by(ANYTHING)
        if isinstance(value, Function) and value.node is node:
            if node in self.functions:
                self.functions[node] = value
        elif isinstance(value, Function):
            self.wrappers[node] = value
        self.bind_name(node.name, value)
        return True

    def options_of(self, decorators: tuple[Value, ...]) -> dict[str, Value]:
        """What click passes for an option that the user leaves out, by parameter."""
        found: dict[str, Value] = {}
        for decorator in decorators:
            made = self.calls.get(decorator.call or 0) if isinstance(decorator, Opaque) else None
            if made is None or made.name not in library.OPTIONS:
                continue
            names = [value.value for value in made.arguments.positional if isinstance(value, Constant)]
            default = made.arguments.get("default")
            long = [name for name in names if isinstance(name, str) and not name.startswith("-")]
            long = long or [name for name in names if isinstance(name, str) and name.startswith("--")]
            if long and default is not None:
                found[long[0].lstrip("-").replace("-", "_")] = self.vague(default)
        return found

    def run_class(self, node: ast.ClassDef) -> bool:
        bases = tuple(self.evaluate(base) for base in node.bases)
        decorators = tuple(self.evaluate(decorator) for decorator in node.decorator_list)
        cls = Class(node, bases, decorators)
        self.classes.append(cls)
        outer = self.frame
        frame = self.new_frame(None, node, outer, outer.id)
        frame.guards, frame.loops = outer.guards, outer.loops
        self.frame = frame
        self.classes_open.append(cls)
        self.run_block(node.body)
        self.classes_open.pop()
        self.frame = outer
        cls.namespace.update(frame.locals)
        for decorator in reversed(decorators):
            if isinstance(decorator, Function):
                self.call(decorator, Arguments([cls], {}), node)
        self.bind_name(node.name, cls)
        return True

    # ------------------------------------------------------------ branches

    def run_if(self, node: ast.If) -> bool:
        known = self.literal(node.test, self.evaluate(node.test))
        if known is not None:
            return self.run_block(node.body if known else node.orelse)
        frame, trail = self.frame, self.trail
        guards, mark = frame.guards, trail.mark()
        frame.guards = (*guards, (node.test, True))
        first_falls = self.run_block(node.body)
        frame.guards = guards
        if first_falls and not node.orelse:
            trail.join_with_before(mark, node.test)
            return True
        first = trail.changes(mark) if first_falls else {}
        trail.undo(mark)
        frame.guards = (*guards, (node.test, False))
        second_falls = self.run_block(node.orelse)
        frame.guards = guards
        if first_falls and second_falls:
            trail.join_with(mark, first, node.test)
            return True
        if first_falls:
            trail.undo(mark)
            trail.redo(first)
        if first_falls or second_falls:
            frame.guards = (*guards, (node.test, first_falls))
            return True
        return False

    def run_match(self, node: ast.Match) -> bool:
        subject = self.evaluate(node.subject)
        frame, trail = self.frame, self.trail
        guards, mark = frame.guards, trail.mark()
        last = node.cases[-1]
        is_exhaustive = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
        ends: list[Changes] = [] if is_exhaustive else [{}]
        for case in node.cases:
            frame.guards = (*guards, (case.guard or node.subject, True))
            self.bind_pattern(case.pattern, subject)
            if case.guard is not None:
                self.evaluate(case.guard)
            if self.run_block(case.body):
                ends.append(trail.changes(mark))
            trail.undo(mark)
        frame.guards = guards
        trail.meet(mark, ends)
        return bool(ends)

    # ------------------------------------------------------------ loops

    def run_for(self, node: ast.For | ast.AsyncFor) -> bool:
        iterable = self.evaluate(node.iter)
        self.note_iteration(node.iter, iterable)

        def bind() -> None:
            self.assign(node.target, self.iterate(iterable, node.target))

        return self.run_loop(node, bind, may_skip=True)

    def run_while(self, node: ast.While) -> bool:
        def bind() -> None:
            self.evaluate(node.test)

        # What a test reads may change with the rounds: only a written constant keeps a loop going for ever.
        is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self.run_loop(node, bind, may_skip=not is_endless)

    def run_loop(self, node: ast.For | ast.AsyncFor | ast.While, bind: Callable[[], None], *, may_skip: bool) -> bool:
        """The body from the entry, then, where it carries something over, from the meeting of entry and back edge."""
        frame, trail = self.frame, self.trail
        guards, loops, mark = frame.guards, frame.loops, trail.mark()
        frame.loops = (*loops, node)
        breaks: list[Changes] = []
        passes = 2 if len(loops) < _DEEPEST_SECOND_PASS else 1
        comes_round = False
        while passes:
            passes -= 1
            continues: list[Changes] = []
            self.exits.append((mark, breaks, continues))
            bind()
            falls = self.run_block(node.body)
            self.exits.pop()
            frame.guards = guards
            comes_round = falls or bool(continues)
            if not falls:
                trail.undo(mark)
                trail.meet(mark, continues[:1])
            for changes in continues if falls else continues[1:]:
                trail.join_with(mark, changes)
            if comes_round:
                self.note_round(node)
            if comes_round and self.open_sums:
                self.keep_sums(mark)
            if not passes or not comes_round or not self.carries(mark):
                break
            trail.join_with_before(mark)
        frame.loops = loops
        if comes_round and may_skip:
            trail.join_with_before(mark)
        leaves = may_skip
        if node.orelse and leaves:
            leaves = self.run_block(node.orelse)
        if not leaves:
            trail.undo(mark)
            trail.meet(mark, breaks)
            return bool(breaks)
        for changes in breaks:
            trail.join_with(mark, changes)
        return True

    def note_round(self, loop: ast.AST) -> None:
        """Write down that there is a next round, and the modules switched here that it may find in evaluation mode."""
        self.come_round.add(loop)
        heap = self.heap
        for module in self.switched_by.get(self.frame.root.id, ()):
            mode = heap.get((module, "#training"))
            if isinstance(mode, Constant):
                is_off = not mode.value
            else:
                is_off = isinstance(mode, Union) and any(
                    isinstance(each, Constant) and not each.value for each, _ in mode.options
                )
            if is_off:
                self.left_in_evaluation.add((loop, module))

    def carries(self, mark: int) -> bool:
        """Whether the next round may see something else that matters than this one did."""
        for (_, key), (store, before) in self.trail.befores(mark).items():
            if self.is_carried(store, key, before):
                return True
        return False

    def is_carried(self, store: Store, key: Hashable, before: Value | None) -> bool:
        """Numbers that count and texts that grow make no difference; graphs, objects, modes and flags do."""
        now = store.get(key)
        if now is before:
            return False
        part = cast("tuple[int, str]", key)[1] if store is self.heap else None
        if part == "items":
            return False
        if before is None:
            return part == "each" and now is not None and not self.graph_ids.isdisjoint(self.flow(now))
        if now is None or not _is_plain(before) or not _is_plain(now):
            return True
        return not self.graph_ids.isdisjoint(now.sources - before.sources)

    def run_break(self, _: ast.Break) -> bool:
        if self.exits:
            mark, breaks = self.exits[-1][:2]
            breaks.append(self.changes_on_leaving(mark))
        return False

    def run_continue(self, _: ast.Continue) -> bool:
        if self.exits:
            self.exits[-1][2].append(self.changes_on_leaving(self.exits[-1][0]))
        return False

    # ------------------------------------------------------------ try and with

    def run_try(self, node: ast.Try) -> bool:
        frame, trail = self.frame, self.trail
        guards, mark = frame.guards, trail.mark()
        falls = self.run_block(node.body)
        if not node.handlers:
            falls = falls and (not node.orelse or self.run_block(node.orelse))
            frame.guards = guards
            return (self.run_block(node.finalbody) if node.finalbody else True) and falls
        self.tried[node] = None
        body = trail.changes(mark)
        ends: list[Changes] = []
        if falls and (not node.orelse or self.run_block(node.orelse)):
            ends.append(trail.changes(mark))
        frame.guards = guards
        trail.undo(mark)
        for handler in node.handlers:
            trail.redo(body)
            trail.join_with_before(mark)
            if handler.name is not None:
                frame.locals[handler.name] = ANYTHING
            if self.run_block(handler.body):
                ends.append(trail.changes(mark))
            frame.guards = guards
            trail.undo(mark)
        trail.meet(mark, ends or [body])
        falls = self.run_block(node.finalbody) if node.finalbody else True
        return falls and bool(ends)

    def run_with(self, node: ast.With | ast.AsyncWith) -> bool:
        return self.run_with_items(node.items, node.body)

    def run_with_items(self, items: list[ast.withitem], body: list[ast.stmt]) -> bool:
        if not items:
            return self.run_block(body)
        item = items[0]
        gradients, autocast = self.heap[GRADIENTS], self.heap[AUTOCAST]
        value = self.evaluate(item.context_expr)
        self.contexts.append((self.trail.mark(), gradients, autocast))
        self.enter_context(value, item.context_expr)
        if item.optional_vars is not None:
            self.assign(item.optional_vars, self.given_by(value))
        falls = self.run_with_items(items[1:], body)
        if falls:
            self.leave_context(value, item.context_expr)
        self.contexts.pop()
        self.heap[GRADIENTS], self.heap[AUTOCAST] = gradients, autocast
        return falls


def _may_become_a_call(node: ast.Name | ast.Attribute, value: Value) -> bool:
    """Whether a statement that is only a name is the beginning of a call that changes something: `torch.manual_se`."""
    if isinstance(value, Symbol) or value is ANYTHING:
        return True
    return isinstance(node, ast.Attribute) and any(name.startswith(node.attr) for name in library.CHANGES)


def _is_plain(value: Value) -> bool:
    """Whether nothing but a flow and a number or text is known."""
    if isinstance(value, Union):
        return all(_is_plain(option) for option, _ in value.options)
    return isinstance(value, Opaque) or (isinstance(value, Constant) and not isinstance(value.value, bool))


_RUN: dict[type[ast.AST], Callable[[Interpreter, Any], bool]] = {
    ast.Expr: Interpreter.run_expression,
    ast.Assign: Interpreter.run_assign,
    ast.AnnAssign: Interpreter.run_annotated,
    ast.AugAssign: Interpreter.run_augmented,
    ast.Return: Interpreter.run_return,
    ast.Raise: Interpreter.run_raise,
    ast.Assert: Interpreter.run_assert,
    ast.Delete: Interpreter.run_delete,
    ast.Global: Interpreter.run_outer,
    ast.Nonlocal: Interpreter.run_outer,
    ast.Import: lambda interpreter, node: interpreter.run_import(node),
    ast.ImportFrom: lambda interpreter, node: interpreter.run_import(node),
    ast.FunctionDef: Interpreter.run_function,
    ast.AsyncFunctionDef: Interpreter.run_function,
    ast.ClassDef: Interpreter.run_class,
    ast.If: Interpreter.run_if,
    ast.Match: Interpreter.run_match,
    ast.For: Interpreter.run_for,
    ast.AsyncFor: Interpreter.run_for,
    ast.While: Interpreter.run_while,
    ast.Break: Interpreter.run_break,
    ast.Continue: Interpreter.run_continue,
    ast.Try: Interpreter.run_try,
    ast.With: Interpreter.run_with,
    ast.AsyncWith: Interpreter.run_with,
}
_try_star: type[ast.AST] | None = getattr(ast, "TryStar", None)  # from Python 3.11
if _try_star is not None:
    _RUN[_try_star] = Interpreter.run_try
