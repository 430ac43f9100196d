"""Parts of a model that are computed again for the gradients, by torch's re-entrant checkpoints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.machine import OFF
from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord

__all__ = ["RecomputedPart", "recomputed_parts"]

_CHECKPOINT = "torch.utils.checkpoint.checkpoint"
_OPTIONS = frozenset({"function", "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})
"""Keywords of `checkpoint` that are no inputs."""
_ASKS_FOR_GRADIENTS = ("requires_grad_", "register_forward_hook", "enable_input_require_grads")
_THAWS = re.compile(r"\.requires_grad\s*=(?!=)\s*(?!False\b)|unfreeze\w*\(")
"""How a program lets parameters learn that it may have frozen before: one by one, or by a function of that name."""
_EMBEDS_FROZEN = "torch.nn.Embedding.from_pretrained"
_TAKES_IDS = ("Embedding", "EmbeddingBag", ".from_pretrained", ".from_config")
"""Ends of the names by which modules are made whose inputs never ask for gradients."""


class RecomputedPart:
    """A call of `torch.utils.checkpoint.checkpoint` that says it is re-entrant."""

    __slots__ = ("_facts", "call")

    def __init__(self, facts: Facts, record: CallRecord) -> None:
        self._facts = facts
        self.call = Call(facts, record)

    @property
    def gets_no_gradients(self) -> Truth:
        """Whether no input asks for gradients, so that those of the parameters inside are never computed.

        YES if every input comes out of frozen modules, or of what ran without gradients, and of nothing else that is seen.
        """
        if not self._facts.is_whole or not self.call.record.arguments.is_complete:
            return answer(UNKNOWN)
        runs = self._runs()
        are_known = bool(runs) and all(run is not None and self._is_without_gradients(run) for run in runs)
        return answer(YES if are_known else UNKNOWN)

    @property
    def input_text(self) -> str:
        """The first input, as it is written."""
        node = self.call.record.node
        return self._facts.text_of(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else "the input"

    @property
    def origin(self) -> str:
        """What gives the input, as it is called."""
        run = next(iter(self._runs()), None)
        node = run.node if run is not None else None
        return self._facts.text_of(node.func) if isinstance(node, ast.Call) else ""

    @property
    def is_behind_frozen(self) -> bool:
        """Whether that is frozen; else it runs without gradients."""
        run = next(iter(self._runs()), None)
        return run is not None and run.gradients is not OFF

    def _runs(self) -> list[CallRecord | None]:
        """The forwards that the inputs come out of, other checkpoints apart; None for what is computed in another way.

        Into a sum, parameters may go.
        """
        calls, seen = self._facts.machine.calls, set[int]()
        found: list[CallRecord | None] = []
        pending = _inputs(self.call.record)
        while pending:
            for option, _ in options(pending.pop()):
                record = calls.get(option.call or 0) if isinstance(option, Opaque) else None
                if record is None or record.name not in {"()", _CHECKPOINT}:
                    found.append(None)
                elif record.id not in seen:
                    seen.add(record.id)
                    found += [record] if record.name == "()" else []
                    pending += _inputs(record) if record.name == _CHECKPOINT else []
        return found

    def _is_without_gradients(self, run: CallRecord) -> bool:
        module = run.receiver
        if run.gradients is OFF:
            return True
        if not isinstance(module, Object) or self._may_ask_for_gradients(run, module):
            return False
        made = self._facts.machine.calls.get(module.call or 0)
        if made is None or not made.name.endswith(_TAKES_IDS):
            return False
        if made.name == _EMBEDS_FROZEN:
            frozen = made.arguments.get("freeze", 1)
            return frozen is None or (isinstance(frozen, Constant) and frozen.value is True)
        return any(_freezes(record) and not _is_in_a_branch(record) for record in self._facts.index.on(module.id))

    def _may_ask_for_gradients(self, run: CallRecord, module: Object) -> bool:
        """Whether somebody asks for gradients of what the module gives, or of its parameters."""
        for record in self._facts.index.named(_ASKS_FOR_GRADIENTS):
            asked = record.receiver
            is_of_output = asked is not None and run.id in self._facts.machine.flow(asked)
            # Another module may be the whole that this one is a part of; a hook is of its own module alone.
            is_of_module = asked is module or (isinstance(asked, Object) and record.name != "register_forward_hook")
            if is_of_output or (is_of_module and not _freezes(record)) or record.name == "enable_input_require_grads":
                return True
        sources = (self._facts.source, *self._facts.ways.modules)
        return any(_THAWS.search(source.text) is not None for source in sources)


def _inputs(record: CallRecord) -> list[Value]:
    """What a checkpoint passes on."""
    given = record.arguments
    return [*given.positional[1:], *(value for name, value in given.keywords.items() if name not in _OPTIONS)]


def recomputed_parts(facts: Facts) -> Iterator[RecomputedPart]:
    """The re-entrant checkpoints of the program, in order."""
    for record in facts.index.named((_CHECKPOINT,)):
        asked = record.arguments.get("use_reentrant")
        if isinstance(asked, Constant) and asked.value is True:
            yield RecomputedPart(facts, record)


def _freezes(record: CallRecord) -> bool:
    """Whether a call says that a module's parameters ask for no gradients."""
    asked = record.arguments.get("requires_grad", 0)
    is_off = isinstance(asked, Constant) and asked.value is False and not asked.may
    return record.name == "requires_grad_" and is_off


def _is_in_a_branch(record: CallRecord) -> bool:
    """Whether a test of the function that makes the call decides that it is reached."""
    function = record.frame.function
    if function is None:
        return bool(record.guards)
    first, last = function.node.lineno, function.node.end_lineno or function.node.lineno
    return any(first <= test.lineno <= last for test, _ in record.guards)
