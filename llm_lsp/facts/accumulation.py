"""Sums that grow from round to round of a loop, and whether graphs of gradients stay in them."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING

from llm_lsp.facts.calls import Calls
from llm_lsp.facts.events import Arguments, Frame
from llm_lsp.facts.gradients import terms_of
from llm_lsp.facts.machine import GRADIENTS, ON
from llm_lsp.facts.store import Store
from llm_lsp.facts.values import ANYTHING, Constant, Object, Opaque, Value, options
from llm_lsp.knowledge import library
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from llm_lsp.facts.store import Changes
    from llm_lsp.facts.values import Condition

__all__ = ["Accumulation", "Sum"]


class Sum(NamedTuple):
    """An addition to what was there before."""

    target: ast.expr
    added: ast.expr
    terms: tuple[tuple[ast.expr, Value], ...]
    """The variables that are added, and what they hold; the whole of what is added first."""
    store: Store
    key: Hashable
    depth: int
    """In how many loops; in none, what goes on is what the object holds from call to call."""
    before: Value
    """What was there."""


class Accumulation(Calls):
    """Writes down what is added to a variable or attribute that a loop began with."""

    __slots__ = ()

    exits: list[tuple[int, list[Changes], list[Changes]]]

    def run_augmented(self, node: ast.AugAssign) -> bool:
        before = self.evaluate(node.target)
        value = self.evaluate(node.value)
        if isinstance(before, Object) and before.cls == "builtins.list":
            self.assign_item(before, ANYTHING, self.iterate(value, node))
            return True
        if isinstance(before, Constant) and isinstance(value, Constant) and self.stays_known(before):
            operation = ast.BinOp(node.target, node.op, node.value)
            self.assign(node.target, self.evaluate(operation))
            return True
        if any(isinstance(side, Opaque) and side.cls == "length" for side in (before, value)):
            self.assign(node.target, Opaque("length", self.flow(before) | self.flow(value)))
        else:
            self.assign(node.target, self.summed(node, node.target, node.value, [before, value]))
        return True

    def stays_known(self, before: Constant) -> bool:
        """Whether what is added to it is worth computing: to a text, or to a number that does not count rounds."""
        return isinstance(before.value, str) or (isinstance(before.value, (int, float)) and not self.frame.loops)

    def summed(self, node: ast.AugAssign | ast.Assign, target: ast.expr, added: ast.expr, values: list[Value]) -> Value:
        """The result of adding, to what `target` holds, `added`; `values` are both as they are now."""
        before, value = values
        sources = self.flow(before) | self.flow(value)
        result = Opaque(None, sources)
        if self.graph_ids.isdisjoint(self.flow(value)) or self.heap[GRADIENTS] is not ON:
            return result
        place = self.place_of(target)
        is_asked_for = isinstance(target, ast.Name) and isinstance(before, Object)
        if place is None or is_asked_for:
            # What a caller gives may be no number, but something that takes what it needs.
            return result
        id = self.site(node, "call")
        if id not in self.sums and not self.was_there_before(*place):
            return result
        self.record(node, "+=", None, Arguments([before, value], {}))
        self.graph_ids.add(id)
        text = _text(target)
        terms = [(term, held) for term in terms_of(added) if (held := self.held_by(term)) and _text(term) != text]
        self.sums[id] = Sum(target, added, ((added, value), *terms), *place, len(self.exits), before)
        if id not in self.kept_sums:
            self.open_sums[id] = self.sums[id]
        result = Opaque(None, sources | {id})
        if isinstance(target, ast.Subscript):
            self.heap[place[1]] = result
        return result

    def place_of(self, target: ast.expr) -> tuple[Store, Hashable] | None:
        """Where what a target holds is kept."""
        if isinstance(target, ast.Name):
            return self.owner_of(target.id).locals, target.id
        if not isinstance(target, (ast.Attribute, ast.Subscript)):
            return None
        owner = self.held_by(target.value)
        id = owner.id if isinstance(owner, Object) else self.made_as_dictionary(owner)
        if id is None:
            return None
        if isinstance(target, ast.Attribute):
            return self.heap, (id, target.attr)
        key = target.slice
        return (self.heap, (id, f"[{key.value!r}]")) if isinstance(key, ast.Constant) else None

    def made_as_dictionary(self, value: Value | None) -> int | None:
        """The call that made a `defaultdict` or its like, whose items are not followed, before this round began."""
        made = self.calls.get(value.call) if isinstance(value, Opaque) and value.call is not None else None
        is_one = made is not None and made.name in library.DICTIONARIES and value is made.result
        return made.id if made is not None and is_one and made.loops != self.frame.loops else None

    def was_there_before(self, store: Store, key: Hashable) -> bool:
        """Whether this round of the innermost loop, or this call of a method by whoever has the object, began with it."""
        if self.exits:
            mark = self.exits[-1][0]
        elif store is self.heap and self.frame.root.receiver is not None:
            mark = self.frame.root.mark
        else:
            return False
        return not any(changed is store and name == key for changed, name, _ in self.trail.entries[mark:])

    def keep_sums(self, mark: int | None = None) -> None:
        """A round that began at the mark ends, or a call: the sums that are still there with what was added go on growing."""
        depth = len(self.exits) + bool(self.frame.loops)
        for id, found in list(self.open_sums.items()):
            unless = self.kept_unless(id, found, mark) if found.depth == depth else None
            if unless is not None:
                self.kept_sums[id] = unless
                del self.open_sums[id]

    def kept_unless(self, id: int, found: Sum, mark: int | None) -> frozenset[Condition] | None:
        """With which conditions a sum is not there any more after the round; None if it never is."""
        if not self.outlives_round(found.store):
            return frozenset() if mark is not None and self.is_given_back(id, found, mark) else None
        now = found.store.get(found.key)
        if now is None or id not in self.flow(now):
            return None
        others = [conditions for option, conditions in options(now) if id not in self.flow(option)]
        return frozenset(condition for conditions in others for condition in conditions)

    def is_given_back(self, id: int, found: Sum, mark: int) -> bool:
        """Whether a function was given a variable of this one, and its sum is what the variable holds now."""
        variables = self.frame.locals
        return any(
            store is variables and before is found.before and id in self.flow(store.get(key[1], ANYTHING))
            for key, (store, before) in self.trail.befores(mark).items()
        )

    def outlives_round(self, store: Store) -> bool:
        """Whether it is no variable of a function that was called in this round, and has returned."""
        frame: Frame | None = self.frame
        while frame is not None and frame.locals is not store:
            frame = self.frames[frame.scope] if frame.scope >= 0 else None
        return store is self.heap or frame is not None or store is self.frames[0].locals

    def sum_of(self, node: ast.Assign, value: Value) -> Value:
        """The result of `total = total + loss`, as that of `total += loss`; any other value as it is."""
        goes_on = bool(self.exits) or self.frame.parent is None
        if not goes_on or len(node.targets) > 1 or self.graph_ids.isdisjoint(value.sources):
            return value
        added = added_to(_text(node.targets[0]), node.value)
        if added is None:
            return value
        before = self.held_by(node.targets[0]) or ANYTHING
        now = self.held_by(added)
        # Anything but a plain name has been computed: what it came to is not looked at again.
        rest = Opaque(None, value.sources - self.flow(before)) if now is None else now
        return self.summed(node, node.targets[0], added, [before, rest])


def added_to(text: str, expression: ast.expr) -> ast.expr | None:
    """What is added in the expression to what is written as `text`, itself or a multiple of it."""
    if not isinstance(expression, ast.BinOp):
        return None
    for total, added in ((expression.left, expression.right), (expression.right, expression.left)):
        if text in {_text(term) for term in terms_of(total)}:
            is_added = isinstance(expression.op, (ast.Add, ast.Sub))
            return added_to(text, total) or (added if is_added else None)
    return None


def _text(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ast.unparse(expression)
