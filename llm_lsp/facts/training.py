"""What a program trains: from which of its functions, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.extents import TRAINS
from llm_lsp.facts.values import Object

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import Frame

__all__ = ["fed_to_models", "fed_to_trainers", "training_roots"]


def training_roots(facts: Facts) -> frozenset[Frame]:
    """Frames of functions that nobody calls and that themselves make a model or an optimizer and train it.

    Such a function stands for the script that somebody starts, unless the module is part of a package; in a
    notebook any does. One that is handed its model makes no more than the optimizer for it: whoever made the model
    is the script.
    """
    index = facts.index
    if facts.source.is_notebook:
        return frozenset(root for root in index.roots if _makes(facts, root, "model") or not _is_handed(facts, root))
    training = {record.frame.root for record in index.named(TRAINS)}
    found = frozenset(root for root in training if _is_function(root) and _makes_what_it_trains(facts, root))
    return found if found and facts.world.module(".", facts.source.path) is None else frozenset()


def _is_function(root: Frame) -> bool:
    return root.function is not None and root.function.owner is None


def _makes_what_it_trains(facts: Facts, root: Frame) -> bool:
    is_optimized = _makes(facts, root, "optimizer") and not _is_handed(facts, root)
    return is_optimized or _makes(facts, root, "model")


def _makes(facts: Facts, root: Frame, kind: str) -> bool:
    """Whether a call that the root leads to returns what is of this kind."""
    results = (record.result for record in facts.index.under(root).with_objects)
    return any(isinstance(result, Object) and facts.machine.kind(result) == kind for result in results)


def _is_handed(facts: Facts, root: Frame) -> bool:
    """Whether a function trains a model that a caller hands to it."""
    asked = facts.index.under(root).named(("parameters", "named_parameters")) if _is_function(root) else ()
    owners = (record.receiver for record in asked)
    return any(isinstance(owner, Object) and owner.is_outside and owner.call is None for owner in owners)


def fed_to_trainers(facts: Facts) -> frozenset[int]:
    """The calls whose results go to a trainer."""
    given = [record.arguments for record in facts.index.making("trainer")]
    given += [record.arguments for record in facts.index.named(("fit",)) if record.receiver is not None]
    return frozenset[int]().union(*map(facts.machine.flow_of, given))


def fed_to_models(facts: Facts, *, is_trained: bool) -> frozenset[int]:
    """The calls whose results go into a model that is trained with them, or into one that is not."""
    machine = facts.machine
    runs = (run.record for run in facts.runs_of_models())
    given = [run.arguments for run in runs if (run.id in machine.reached_gradient) is is_trained]
    return frozenset[int]().union(*map(machine.flow_of, given))
