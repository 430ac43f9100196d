"""Stops for a debugger that were left in a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.views import Call

__all__ = ["DebuggerStop", "debugger_stops"]

_WANTED = ("debug", "pdb", "breakpoint", "interactive", "isatty", "inspect_")
"""Words in a test, and in the name of a function, that say that somebody asks for the stop."""
_USES_MODELS = re.compile(
    r"^\s*(from|import)\s+(torch|transformers|lightning|pytorch_lightning|accelerate|peft|trl|datasets|deepspeed|vllm|diffusers|"
    r"sentence_transformers|tokenizers|litgpt|tensorflow|jax|flax|keras)\b",
    re.MULTILINE,
)


class DebuggerStop:
    """A call that waits for somebody at the keyboard."""

    __slots__ = ("_facts", "call")

    def __init__(self, facts: Facts, call: Call) -> None:
        self._facts = facts
        self.call = call

    @property
    def is_left_in(self) -> Truth:
        """Whether a program that works with models comes here without anybody having asked for a debugger."""
        call, facts = self.call, self._facts
        is_wanted = call.is_guarded_by(*_WANTED) or any(
            name.startswith("test_") or word in name.lower() for name in call.function_names for word in _WANTED
        )
        is_program = _USES_MODELS.search(facts.source.text) is not None and not call.is_in_a_test
        return answer(YES if is_program and not is_wanted else UNKNOWN)


def debugger_stops(facts: Facts) -> Iterator[DebuggerStop]:
    """The calls in this module, each place once."""
    seen: set[object] = set()
    for call in facts.calls(*library.DEBUGGERS):
        if call.place.path == facts.source.path and call.place not in seen:
            seen.add(call.place)
            yield DebuggerStop(facts, call)
