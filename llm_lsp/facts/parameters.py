"""What becomes of a model's parameters: which may no longer learn, which an optimizer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.truth import UNKNOWN, YES, Truth
from llm_lsp.facts.values import Object
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts.flow import Flow

__all__ = ["are_optimized", "may_be_frozen"]


def may_be_frozen(machine: Flow, model: Object) -> bool:
    """Whether some parameters of the model, or of what it is a part of, may no longer require gradients."""
    owners = [model, *([model.parent] if model.parent is not None else [])]
    if any(owner.id in machine.frozen or owner.call in machine.frozen for owner in owners):
        return True
    given = (machine.calls.get(id) for id in machine.frozen)
    return any(record is not None and any(record.receiver is owner for owner in owners) for record in given)


def are_optimized(machine: Flow, model: Object) -> Truth:
    """Whether an optimizer of torch is given the parameters of the model as they are.

    A program that casts them first keeps a copy in float32 to train.
    """
    owners = {id for id, held in machine.held.items() if any(part.id == model.id for part in held.values())}
    owners |= {model.id, *([model.parent.id] if model.parent is not None else [])}
    given: set[int] = set()
    for record in machine.calls.values():
        asked = record.receiver if record.name in {"parameters", "named_parameters"} else None
        if isinstance(asked, Object) and asked.id in owners:
            given.add(record.id)
    is_optimized = False
    for record in machine.calls.values():
        if kind_of(record.name) == "optimizer":
            is_optimized = is_optimized or bool(given & machine.flow_of(record.arguments))
        elif record.name == "float" and record.receiver is not None and given & machine.flow(record.receiver):
            return UNKNOWN
    return YES if is_optimized else UNKNOWN
