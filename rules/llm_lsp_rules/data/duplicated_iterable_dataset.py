"""LLM505 duplicated-iterable-dataset."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Report, Rule, Severity


class DuplicatedIterableDataset(Rule):
    """Every row comes once from each worker: an iterable dataset is run through whole by all of them.

    Of a dataset with indices a loader tells each worker which items to take. An `IterableDataset` has none: each worker
    gets a copy and runs through all of it. With four workers an epoch has every row four times, the loss of a validation
    is right by chance, and counts of rows or tokens are four times too high. Nothing is said.

    Ask `torch.utils.data.get_worker_info()` in `__iter__`, and take every n-th row, or a part of the files.

    Reported are loaders that certainly have several workers, with an iterable dataset of the program that reads files or
    runs through rows of its own. Silent are datasets that speak of workers, shards or ranks, that draw at random or take
    from a queue or stream, wrap somebody else's dataset, which may divide by itself, and a `worker_init_fn` that looks at
    the dataset or is not seen.
    """

    code = "LLM505"
    severity = Severity.ERROR
    triggers = ("IterableDataset",)
    bad = [
        Bad("""\
from torch.utils.data import DataLoader, IterableDataset

class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path, encoding="utf-8") as lines:
            for line in lines:
                yield line.strip()

def load(path):
    return DataLoader(Lines(path), batch_size=32, num_workers=4)  # <- every row of `Lines` comes once from each worker
"""),
        # A list in a class that makes its loaders; a base of the program's own; a start that only seeds.
        Bad("""\
import os

import numpy
from torch.utils import data

class Texts(data.IterableDataset):
    def __init__(self, texts, tokenizer):
        super().__init__()
        self.texts, self.tokenizer = texts, tokenizer

    def encode(self, text):
        return self.tokenizer(text, truncation=True, max_length=128, return_tensors="pt")["input_ids"][0]

    def __iter__(self):
        for text in self.texts:
            yield self.encode(text)

class LongTexts(Texts):
    \"\"\"Every worker sees all of them.\"\"\"

def seed(worker_id):
    numpy.random.seed(worker_id)

class Loaders:
    def __init__(self, texts, tokenizer):
        self.dataset = LongTexts(texts, tokenizer)

    def validation(self):
        return data.DataLoader(self.dataset, batch_size=None, num_workers=os.cpu_count(), worker_init_fn=seed)  # <- every row of `LongTexts`
"""),
        # Cells of a notebook, with a number that somebody may change.
        Bad(
            {
                "data.ipynb": [
                    "import glob\nimport torch\nfrom torch.utils.data import DataLoader, IterableDataset\n\nWORKERS = 8",
                    (
                        "class Tokens(IterableDataset):\n    def __init__(self, pattern, block=128):\n        self.pattern, self.block = pattern, block\n\n"
                        "    def __iter__(self):\n        for path in sorted(glob.glob(self.pattern)):\n            ids = torch.load(path)\n"
                        "            yield from ids.split(self.block)"
                    ),
                    "loader = DataLoader(Tokens('data/*.pt'), batch_size=8, num_workers=WORKERS)  # <- every row of `Tokens` comes once from each worker",
                ]
            }
        ),
    ]
    good = [
        Good("""\
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        with open(self.path, encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % step == first:
                    yield line.strip()

def load(path):
    return DataLoader(Lines(path), batch_size=32, num_workers=4)
"""),
        # One process, or one worker; nobody says how many.
        Good("""\
from torch.utils.data import DataLoader, IterableDataset

class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path, encoding="utf-8") as lines:
            yield from lines

def load(path, workers):
    yield DataLoader(Lines(path), batch_size=32)
    yield DataLoader(Lines(path), batch_size=32, num_workers=0)
    yield DataLoader(Lines(path), batch_size=32, num_workers=1)
    yield DataLoader(Lines(path), batch_size=32, num_workers=workers)
"""),
        # A dataset with indices; what is drawn at random; what each process takes from a common queue.
        Good("""\
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

    def __iter__(self):
        for row in self.rows:
            yield row

class Noise(IterableDataset):
    def __iter__(self):
        for _ in range(1000):
            yield torch.randn(8)

class Jobs(IterableDataset):
    def __init__(self, queue):
        self.queue = queue

    def __iter__(self):
        for _ in range(1000):
            yield self.queue.get()

def load(rows, queue):
    yield DataLoader(Rows(rows), batch_size=8, num_workers=4)
    yield DataLoader(Noise(), batch_size=8, num_workers=4)
    yield DataLoader(Jobs(queue), batch_size=8, num_workers=4)
"""),
        # Somebody else's dataset may divide by itself; so may the start of a worker.
        Good("""\
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader, IterableDataset

class Tokenized(IterableDataset):
    def __init__(self, dataset, tokenizer):
        self.dataset, self.tokenizer = dataset, tokenizer

    def __iter__(self):
        for row in self.dataset:
            yield self.tokenizer(row["text"])["input_ids"]

class Span(IterableDataset):
    def __init__(self, first, last):
        self.first, self.last = first, last

    def __iter__(self):
        return iter(range(self.first, self.last))

def divide(worker_id):
    info = torch.utils.data.get_worker_info()
    each = (info.dataset.last - info.dataset.first) // info.num_workers
    info.dataset.first += each * worker_id
    info.dataset.last = info.dataset.first + each

def load(tokenizer):
    rows = load_dataset("allenai/c4", "en", split="train", streaming=True)
    yield DataLoader(Tokenized(rows, tokenizer), batch_size=None, num_workers=4)
    yield DataLoader(Span(0, 1000), batch_size=10, num_workers=4, worker_init_fn=divide)
"""),
        # A base that nobody sees; files that the program divides among the workers.
        Good("""\
from project import Divided
from torch.utils.data import DataLoader, IterableDataset

class Lines(Divided, IterableDataset):
    def __iter__(self):
        with open(self.path) as lines:
            yield from lines

class Parts(IterableDataset):
    def __init__(self, files):
        self.files = files

    def __iter__(self):
        for path in self.files[self.rank :: self.world_size]:
            with open(path) as lines:
                yield from lines

def load(path, files):
    yield DataLoader(Lines(path), batch_size=8, num_workers=4)
    yield DataLoader(Parts(files), batch_size=8, num_workers=4)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for dataset in facts.worked_datasets():
            if dataset.has_workers is YES and dataset.is_divided is NO:
                yield self.report(
                    dataset.loader.place,
                    f"every row of `{dataset.name}` comes once from each worker",
                    help="take a part of the rows in `__iter__`, by `torch.utils.data.get_worker_info()`",
                )
