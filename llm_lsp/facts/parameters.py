"""What becomes of a model's parameters: which may no longer learn, which an optimizer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.truth import UNKNOWN, YES, Truth

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.flow import Flow
    from llm_lsp.facts.values import Object

__all__ = ["are_optimized", "may_be_frozen"]


def may_be_frozen(machine: Flow, model: Object) -> bool:
    """Whether some parameters of the model, or of what it is a part of, may no longer require gradients."""
    owners = [model, *([model.parent] if model.parent is not None else [])]
    if any(owner.id in machine.frozen or owner.call in machine.frozen for owner in owners):
        return True
    given = (machine.calls.get(id) for id in machine.frozen)
    return any(record is not None and any(record.receiver is owner for owner in owners) for record in given)


def are_optimized(facts: Facts, model: Object) -> Truth:
    """Whether an optimizer of torch is given the parameters of the model as they are.

    A program that casts them first keeps a copy in float32 to train.
    """
    machine, index = facts.machine, facts.index
    owners = {id for id, held in machine.held.items() if any(part.id == model.id for part in held.values())}
    owners |= {model.id, *([model.parent.id] if model.parent is not None else [])}
    asked = (record for owner in owners for record in index.on(owner))
    given = {record.id for record in asked if record.name in {"parameters", "named_parameters"}}
    cast = (record.receiver for record in index.named(("float",)) if record.receiver is not None)
    if any(given & machine.flow(value) for value in cast):
        return UNKNOWN
    optimizers = index.making("optimizer")
    return YES if any(given & machine.flow_of(made.arguments) for made in optimizers) else UNKNOWN
