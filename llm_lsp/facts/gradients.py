"""What is done with gradients: of what they are computed, whether a scaler multiplied them, where they are clipped."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from llm_lsp.facts.events import CallRecord, Frame
from llm_lsp.facts.model_states import ModelStates
from llm_lsp.facts.values import ANYTHING, Constant, Object, Opaque, Tuple, Value, options
from llm_lsp.knowledge import library
from llm_lsp.named_tuples import NamedTuple

__all__ = ["SCALED", "UNSCALED", "Differentiated", "Gradients", "terms_of"]

SCALED = (-1, "scaled")
"""Of the heap: the id of the `scaler.scale` by whose result the present gradients were computed, if that is known."""
UNSCALED = Constant("unscaled")
_PLAIN = Constant("plain")


class Differentiated(NamedTuple):
    """Something of which `backward` computed gradients."""

    value: Value
    frame: Frame
    written: ast.expr


class Gradients(ModelStates):
    """Follows what `backward`, scalers and optimizers do to gradients."""

    __slots__ = ()

    def compute_gradients(self, call: CallRecord, values: Sequence[Value]) -> None:
        """`backward` of the values, by whatever object."""
        found = frozenset[int]().union(*(self.flow(value) for value in values))
        self.reached_gradient |= found
        if isinstance(call.node, ast.Call):
            receiver = [call.node.func.value] if isinstance(call.node.func, ast.Attribute) else []
            for term in (term for part in (*receiver, *call.node.args) for term in terms_of(part)):
                value = self.held_by(term)
                if isinstance(value, Opaque):
                    self.differentiated.append(Differentiated(value, self.frame, term))
        scaled = [id for id in sorted(found) if id in self.calls and self.calls[id].name == "scale"]
        self.heap[SCALED] = Constant(scaled[-1]) if scaled else _PLAIN

    def compute_gradients_of_returned(self, result: Value, frame: Frame) -> None:
        """`backward` of what an override returns, by its library."""
        self.reached_gradient |= self.flow(result)
        for returned, _ in options(result):
            loss = returned.items[0] if isinstance(returned, Tuple) and returned.items else returned
            if isinstance(loss, Object):
                loss = self.heap.get((loss.id, "['loss']"), loss)
            if isinstance(loss, Opaque):
                self.differentiated.append(Differentiated(loss, frame, ast.Constant(None)))

    def held_by(self, expression: ast.expr) -> Value | None:
        """What a variable, or a part of what it holds, is at the moment; nothing runs for it."""
        if isinstance(expression, ast.Name):
            return self.frame.locals.get(expression.id) or self.look_up(expression.id)
        if isinstance(expression, ast.Attribute):
            name: object = expression.attr
        elif isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
            name = expression.slice.value
        else:
            return None
        owner = self.held_by(expression.value)
        if isinstance(owner, Object):
            return self.heap.get((owner.id, name if isinstance(expression, ast.Attribute) else f"[{name!r}]"))
        return self.part_of_opaque(owner, name) if isinstance(owner, Opaque) else None

    def scaled_by(self, call: CallRecord) -> Value:
        """`scaler.scale(loss)`: as good as the loss, and yet another tensor."""
        self.graph_ids.add(call.id)
        return Opaque(None, self.flow(call.arguments.positional[0]) | {call.id}, call.id)

    def change_scaling(self, receiver: Object, name: str) -> None:
        """A scaler's or optimizer's method ends what `scale` and `backward` began, or lets the program end it."""
        if name == "unscale_":
            self.heap[SCALED] = UNSCALED
        elif name == "get_scale":
            self.heap[SCALED] = ANYTHING
        elif name == "zero_grad" or self.kind(receiver) in {"scaler", "optimizer"} or _may_step(receiver):
            self.heap[SCALED] = _PLAIN

    def note_scaling(self, call: CallRecord) -> None:
        """Write down, of a call that clips gradients, how these were computed."""
        state = self.heap.get(SCALED)
        if state is not None:
            call.state["scaled"] = state

    def note_weights(self, call: CallRecord) -> None:
        """Write down the types of the weights of the models that a call is given, before it takes them over."""
        for given in call.arguments.values():
            for option, _ in options(given):
                if not isinstance(option, Object):
                    continue
                for model in (option, *self.held.get(option.id, {}).values()):
                    dtype = self.heap.get((model.id, "#dtype"))
                    if dtype is not None:
                        call.state[f"dtype {model.id}"] = dtype


def _may_step(receiver: Object) -> bool:
    """Whether something from outside is a scaler or an optimizer by its name: no metric, no schedule, no bar."""
    return receiver.is_outside and any(word in receiver.name.lower() for word in ("scal", "opt"))


def terms_of(expression: ast.expr) -> Iterator[ast.expr]:
    """The variables, and parts of what they hold, that a gradient of the expression passes on to."""
    if isinstance(expression, ast.BinOp):
        yield from terms_of(expression.left)
        yield from terms_of(expression.right)
    elif isinstance(expression, ast.UnaryOp):
        yield from terms_of(expression.operand)
    elif isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        if expression.func.attr == "scale" and expression.args:
            yield from terms_of(expression.args[0])
        elif expression.func.attr not in library.NOT_DIFFERENTIABLE:
            yield from terms_of(expression.func.value)
    elif isinstance(expression, ast.Attribute):
        if expression.attr not in library.NOT_DIFFERENTIABLE:
            yield expression
    elif isinstance(expression, (ast.Name, ast.Subscript)):
        yield expression
