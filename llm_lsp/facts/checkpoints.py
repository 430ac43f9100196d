"""What is known of the checkpoints that a program loads, and whether it changes what it has loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from llm_lsp.facts.values import Constant, Object

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.choices import Choice
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.knowledge.checkpoint import Checkpoint

__all__ = ["checkpoints_of", "has_replaced_part", "is_changed_unseen", "may_be_configured"]


def checkpoints_of(facts: Facts, names: Iterable[Choice]) -> list[Checkpoint] | None:
    """What is known of each name; None where one of them is unknown, or an adapter."""
    found = [facts.world.checkpoint(str(name.value)) for name in names]
    known = [one for one in found if one is not None and one.base_model is None]
    return known if known and len(known) == len(found) else None


def may_be_configured(facts: Facts, load: CallRecord, words: tuple[str, ...]) -> bool:
    """Whether a load is given a config that may differ from its checkpoint's in what has one of the words in its name."""
    config = load.arguments.get("config")
    if config is None:
        return False
    made = facts.machine.calls.get(config.call or 0) if isinstance(config, Object) else None
    if made is None or not isinstance(config, Object) or not made.name.endswith("Config.from_pretrained"):
        return True
    names = [each.arguments.get("pretrained_model_name_or_path", 0) for each in (load, made)]
    known = [name.value for name in names if isinstance(name, Constant) and not name.may]
    if len(known) < len(names) or known[0] != known[1] or not made.arguments.is_complete:
        return True
    if any(word in keyword for keyword in made.arguments.keywords for word in words):
        return True
    return is_changed_unseen(facts, config, words)


def is_changed_unseen(facts: Facts, value: Object, words: tuple[str, ...]) -> bool:
    """Whether something unknown got the object, or the program replaces a part of it whose name has one of the words."""
    return value.id in facts.machine.escaped or not facts.is_whole or has_replaced_part(facts, value, words)


def has_replaced_part(facts: Facts, value: Object, words: tuple[str, ...]) -> bool:
    """Whether the program replaces a part of the object whose name has one of the words."""
    machine = facts.machine
    parts = [value.id]
    for part in parts:
        parts += machine.children_of.get(part, ())
    replaced = [use for part in parts for use in machine.uses.get(part, ()) if use.startswith(".")]
    return any(word in use for use in replaced for word in words)
