"""Whether a forward builds a graph, and signs that the program means it to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.values import Constant, Object
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.machine import Machine

__all__ = ["has_autograd", "is_the_other_choice", "keeps_adapters", "makes_a_loss"]

_OF_EVALUATION = ("eval", "val_", "valid", "test", "estimate")


def has_autograd(model: Object) -> bool:
    """False for transformers' models of other frameworks, which build no graph by themselves."""
    name = model.cls.rpartition(".")[2] if isinstance(model.cls, str) else ""
    return not name.startswith(library.WITHOUT_AUTOGRAD)


def keeps_adapters(machine: Machine, model: Object) -> bool:
    """Whether the adapters that the model was given stay apart from its weights."""
    return library.UNLOADS_ADAPTERS.isdisjoint(machine.uses.get(model.id, ()))


def is_the_other_choice(facts: Facts, forward: CallRecord) -> bool:
    """Whether one test decides between this forward and one of the same model with gradients off."""
    decided = {(test, not came_out) for test, came_out in forward.guards}
    model = forward.receiver
    others = facts.index.on(model.id) if isinstance(model, Object) and decided else ()
    return any(
        record.receiver is model
        and record.frame is forward.frame
        and record.name == "()"
        and isinstance(record.gradients, Constant)
        and not record.gradients.value
        and not decided.isdisjoint(record.guards)
        for record in others
    )


def makes_a_loss(function: str) -> bool:
    """Whether the name says that somebody computes gradients of what the function returns."""
    return "loss" in function and not any(word in function for word in _OF_EVALUATION)
