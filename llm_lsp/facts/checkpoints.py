"""What is known of the checkpoints that a program loads, and whether it changes what it has loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.choices import Choice
    from llm_lsp.facts.values import Object
    from llm_lsp.knowledge.checkpoint import Checkpoint

__all__ = ["checkpoints_of", "has_replaced_part", "is_changed_unseen"]


def checkpoints_of(facts: Facts, names: Iterable[Choice]) -> list[Checkpoint] | None:
    """What is known of each name; None where one of them is unknown, or an adapter."""
    found = [facts.world.checkpoint(str(name.value)) for name in names]
    known = [one for one in found if one is not None and one.base_model is None]
    return known if known and len(known) == len(found) else None


def is_changed_unseen(facts: Facts, value: Object, words: tuple[str, ...]) -> bool:
    """Whether something unknown got the object, or the program replaces a part of it whose name has one of the words."""
    return value.id in facts.machine.escaped or not facts.is_whole or has_replaced_part(facts, value, words)


def has_replaced_part(facts: Facts, value: Object, words: tuple[str, ...]) -> bool:
    """Whether the program replaces a part of the object whose name has one of the words."""
    machine = facts.machine
    parts = [value.id]
    for part in parts:
        parts += machine.children_of.get(part, ())
    used = (use for part in parts for use in machine.uses.get(part, ()))
    return any(use.startswith(".") and any(word in use for word in words) for use in used)
