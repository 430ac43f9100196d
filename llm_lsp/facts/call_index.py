"""The calls that a program makes, found by what rules ask for: by name, by what is called, by what leads there.

Each rule asks for a few of them. That every one looked through all of them took half of their time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from llm_lsp.facts.events import CallRecord, Frame
from llm_lsp.facts.values import Object
from llm_lsp.knowledge.kinds import kind_of

__all__ = ["CallIndex", "in_order"]

Key = TypeVar("Key")
Item = TypeVar("Item")


class CallIndex:
    """Recorded calls. Whatever is asked for comes in the order in which it was first called.

    Args:
        records: the calls, in that order.
    """

    def __init__(self, records: Collection[CallRecord]) -> None:
        self._records = records

    def named(self, names: Iterable[str]) -> list[CallRecord]:
        """The calls with one of these names."""
        found = [self._by_name[name] for name in names if name in self._by_name]
        return found[0] if len(found) == 1 else in_order(record for records in found for record in records)

    def named_so(self, fits: Callable[[str], bool]) -> list[CallRecord]:
        """The calls whose name fits; a name is looked at once, however many calls have it."""
        return self.named([name for name in self._by_name if fits(name)])

    def making(self, kind: str) -> list[CallRecord]:
        """The calls of a library that make what is of this kind, by their names."""
        return self.named(self._names_by_kind.get(kind, ()))

    def on(self, id: int) -> Sequence[CallRecord]:
        """The calls of the object with this id, and of its methods."""
        return self._by_object.get(id, ())

    @cached_property
    def with_objects(self) -> list[CallRecord]:
        """The calls that return an object which the program can tell from others."""
        return [record for record in self._records if isinstance(record.result, Object)]

    @property
    def roots(self) -> AbstractSet[Frame]:
        """The modules, and the functions that nobody calls, that lead to calls."""
        return self._by_root.keys()

    def under(self, root: Frame) -> CallIndex:
        """The calls that one of them leads to."""
        return self._by_root[root] if root in self._by_root else CallIndex(())

    def __iter__(self) -> Iterator[CallRecord]:
        return iter(self._records)

    @cached_property
    def _by_name(self) -> Mapping[str, list[CallRecord]]:
        return _grouped(self._records, attrgetter("name"))

    @cached_property
    def _names_by_kind(self) -> Mapping[str | None, list[str]]:
        return _grouped(self._by_name, kind_of)

    @cached_property
    def _by_object(self) -> Mapping[int, list[CallRecord]]:
        on_objects = [record for record in self._records if isinstance(record.receiver, Object)]
        return _grouped(on_objects, attrgetter("receiver.id"))

    @cached_property
    def _by_root(self) -> Mapping[Frame, CallIndex]:
        grouped = _grouped(self._records, attrgetter("frame.root"))
        return {root: CallIndex(records) for root, records in grouped.items()}


def in_order(records: Iterable[CallRecord]) -> list[CallRecord]:
    """The calls, in the order in which they were first made."""
    return sorted(records, key=attrgetter("id"))


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> Mapping[Key, list[Item]]:
    found: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return found
