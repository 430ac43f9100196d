"""What the worker processes of a loader do with one dataset: the generators that they share, the rows that all of them read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.layers import has_unseen_base
from llm_lsp.facts.modes import is_same_object
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Bound, Class, Constant, Function, Object, Opaque, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import draws, library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord, Frame

__all__ = ["WorkedDataset", "worked_datasets"]

_TAKES_ITEMS = frozenset({"__getitem__", "__getitems__", "__iter__"})
_KNOWS_WORKERS = re.compile(r"worker|shard|\brank\b|world_size|process_index|islice|DistributedSampler")
"""Words of a class that takes its own part of the rows, or its own numbers, in each worker."""
_LOOKS_AT_DATASET = re.compile(r"dataset|worker_info")
"""Words of a function for the start of a worker that changes the worker's copy of the dataset."""
_OF_EVERYBODY = re.compile(
    r"\bopen\(|\brange\(|glob|iterdir|listdir|read_csv|read_parquet|read_json|readlines|np\.load|\bjson\.load|csv\.|scandir|walk\("
    r"|\b(in|yield from) (enumerate\(|zip\(|iter\()?self\.(_?)(rows|lines|texts|files|paths|filenames|file_paths|sentences|examples|records|samples"
    r"|documents|docs|items|sequences|pairs|data|tokens|prompts|images|indices|urls)\b"
)
"""Where rows come from that each process finds anew, all of them."""
_OF_ITS_OWN = re.compile(
    r"rand|shuffle|sample\(|queue|\.recv|socket|kafka|consum|pop\(|lpop|stream|seed|choice", re.IGNORECASE
)
"""Words of a source that gives each process something else."""


class WorkedDataset:
    """A dataset of the program, with a loader that takes items of it in processes of its own."""

    __slots__ = ("_cls", "_dataset", "_facts", "loader")

    def __init__(self, facts: Facts, loader: CallRecord, dataset: Object, cls: Class) -> None:
        self._facts = facts
        self._dataset = dataset
        self._cls = cls
        self.loader = Call(facts, loader)
        """The call that makes the loader."""

    @property
    def name(self) -> str:
        """The class of the dataset."""
        return self._cls.node.name

    @property
    def has_workers(self) -> Truth:
        """Whether there is more than one process that takes items."""
        given = self.loader.record.arguments.get("num_workers", 5)
        if given is None:
            return answer(NO if self.loader.record.arguments.is_complete else UNKNOWN)
        counts = [_count(self._facts, option) for option, _ in options(given)]
        if all(count is not None and count > 1 for count in counts):
            return answer(YES)
        return answer(NO if all(count is not None and count < 2 for count in counts) else UNKNOWN)

    # ------------------------------------------------------------ generators

    @property
    def shared_draw(self) -> Call | None:
        """The first draw, where items are taken, from a generator that was there before the workers were."""
        inside = [record for record in self._facts.records if self._taking_frame(record.frame) is not None]
        made = {id(record): self._generator_of(record) for record in inside}
        anew = {made[id(record)] for record in inside if record.name in draws.SEEDING_METHODS}
        for record in inside:
            generator = made[id(record)]
            if generator is not None and generator not in anew and record.name not in draws.SEEDING_METHODS:
                return Call(self._facts, record)
        return None

    @property
    def generator(self) -> Call | None:
        """The call that makes that generator."""
        draw = self.shared_draw
        id = self._generator_of(draw.record) if draw is not None else None
        return Call(self._facts, self._facts.machine.calls[id]) if id is not None else None

    def _generator_of(self, record: CallRecord) -> int | None:
        """The call that made the generator that a call draws from, or seeds, if that was outside of taking items."""
        given = record.receiver if record.receiver is not None else record.arguments.get("generator")
        for option, _ in options(given) if given is not None else ():
            made = self._maker_of(option)
            if made is not None and made.name in draws.GENERATORS and self._taking_frame(made.frame) is None:
                return made.id
        return None

    def _maker_of(self, generator: Value) -> CallRecord | None:
        """The call that made what may be a generator; `manual_seed` gives back what it is called on."""
        made = self._facts.machine.calls.get(generator.call or 0) if isinstance(generator, (Opaque, Object)) else None
        if made is not None and made.name == "manual_seed" and isinstance(made.receiver, Object):
            return self._facts.machine.calls.get(made.receiver.call or 0)
        return made

    def _taking_frame(self, frame: Frame) -> Frame | None:
        """The frame, here or further out, in which the dataset gives an item."""
        for each in frame.chain():
            takes = each.function is not None and each.function.name in _TAKES_ITEMS
            if takes and is_same_object(each.receiver, self._dataset):
                return each
        return None

    @property
    def draws_apart(self) -> Truth:
        """Whether each worker draws numbers of its own: NO if all have copies of one generator, which nobody seeds anew."""
        is_known = self._facts.is_whole and not _KNOWS_WORKERS.search(self._text) and self._starts_as_it_is is YES
        return answer(NO if is_known and self.shared_draw is not None else UNKNOWN)

    # ------------------------------------------------------------ rows

    @property
    def is_iterated(self) -> bool:
        """Whether the loader runs through it instead of asking for items by their index."""
        return not library.ITERABLE_DATASETS.isdisjoint(self._cls.library_bases())

    @property
    def is_divided(self) -> Truth:
        """Whether each worker takes a part of the rows: NO if each runs through all of what it finds itself."""
        text = self._text
        is_known = self._facts.is_whole and not has_unseen_base(self._cls) and self._starts_as_it_is is YES
        is_all = _OF_EVERYBODY.search(text) and not _KNOWS_WORKERS.search(text) and not _OF_ITS_OWN.search(text)
        return answer(NO if self.is_iterated and is_known and is_all else UNKNOWN)

    @property
    def _text(self) -> str:
        """The class and its bases, docstrings aside."""
        return "\n".join(re.sub(r'"""[\s\S]*?"""', "", self._facts.text_of(each.node)) for each in self._cls.lineage())

    @property
    def _starts_as_it_is(self) -> Truth:
        """Whether nothing changes the copy of the dataset when a worker starts."""
        start = self.loader.record.arguments.get("worker_init_fn", 9)
        if start is None:
            return YES if self.loader.record.arguments.is_complete else UNKNOWN
        if isinstance(start, Constant) and start.value is None:
            return YES
        function = start.function if isinstance(start, Bound) else start
        is_own = isinstance(function, Function) and not _LOOKS_AT_DATASET.search(self._facts.text_of(function.node))
        return YES if is_own else UNKNOWN


def worked_datasets(facts: Facts) -> Iterator[WorkedDataset]:
    """The loaders of datasets that are classes of the program."""
    for call in facts.calls(*library.LOADERS):
        dataset = call.record.arguments.get("dataset", 0)
        for option, _ in options(dataset) if dataset is not None else ():
            if isinstance(option, Object) and isinstance(option.cls, Class):
                yield WorkedDataset(facts, call.record, option, option.cls)


def _count(facts: Facts, value: Value) -> int | None:
    """A number of workers; two stand for as many as there are processors."""
    if isinstance(value, Constant) and isinstance(value.value, int):
        return value.value
    made = facts.machine.calls.get(value.call or 0) if isinstance(value, Opaque) else None
    return 2 if made is not None and made.name in {"os.cpu_count", "multiprocessing.cpu_count"} else None
