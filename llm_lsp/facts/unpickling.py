"""What `torch.load` reads, and what it may run while it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import ANYTHING, Constant, Object, Opaque, Value
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts

__all__ = ["CheckpointRead", "checkpoint_reads"]


class CheckpointRead:
    """A call of `torch.load`."""

    __slots__ = ("_facts", "call")

    def __init__(self, facts: Facts, call: Call) -> None:
        self._facts = facts
        self.call = call

    @property
    def reads_weights_only(self) -> Truth:
        """Whether nothing but tensors and plain values is read; UNKNOWN where the version decides, or who knows what."""
        said = self.call.argument("weights_only")
        if said is not None:
            return said.is_true
        return answer(UNKNOWN)

    @property
    def leaves_it_to_torch(self) -> Truth:
        """Whether nothing says what may be read: torch decides, which took everything before 2.6."""
        return self.call.passes("weights_only")

    @property
    def path(self) -> str:
        """The file, as it is written on one line."""
        given = self.call.argument("f", 0)
        place = given.value_place if given is not None else None
        return "a file" if place is None or "\n" in place.text else f"`{place.text}`"

    @property
    def is_the_programs_own(self) -> Truth:
        """Whether the file belongs to the program: it is named in its text, or the program itself writes it."""
        read = self.call.argument("f", 0)
        if read is None:
            return answer(UNKNOWN)
        if isinstance(read.value, Constant) and not read.value.may:
            return answer(YES)
        written = (call.argument("f", 1) for call in self._facts.calls("torch.save"))
        is_own = any(one is not None and _is_same(read.value, one.value) for one in written)
        return answer(YES if is_own else NO)


def checkpoint_reads(facts: Facts) -> Iterator[CheckpointRead]:
    """The calls of `torch.load`."""
    for call in facts.calls("torch.load", "torch.serialization.load"):
        yield CheckpointRead(facts, call)


def _is_same(one: Value, other: Value) -> bool:
    """Whether both are one thing, whatever it is."""
    if isinstance(one, Object):
        return isinstance(other, Object) and one.id == other.id
    return isinstance(one, Opaque) and one is not ANYTHING and one is other
