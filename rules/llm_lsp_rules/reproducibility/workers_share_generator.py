"""LLM503 workers-share-generator."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Report, Rule, Severity


class WorkersShareGenerator(Rule):
    """All workers of a loader draw the same random numbers: each has a copy of the dataset's one generator.

    A worker process gets a copy of the dataset, the generator on it included, in the state that it had. With four
    workers every augmentation, mask or noise comes four times, and since the original never moves, all epochs get the
    same. torch seeds its own generator, Python's and NumPy's global ones in each worker, but knows nothing of a
    `numpy.random.default_rng`, `RandomState`, `random.Random` or `torch.Generator` of the program's own.

    Make the generator in the worker, from `torch.utils.data.get_worker_info().seed`: in a `worker_init_fn`, at the first
    item, or from a seed and the item's index.

    Reported are loaders that certainly have several workers, with a dataset of the program that draws from such a
    generator where items are taken. Silent are generators that are made or seeded there, a dataset that asks which worker
    it is in, and a `worker_init_fn` that looks at the dataset or is not seen.
    """

    code = "LLM503"
    severity = Severity.ERROR
    triggers = ("default_rng", "RandomState", "Random(", "import Random", "Generator(")
    bad = [
        Bad("""\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, rows, seed=0):
        self.rows = rows
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.normal(size=8)

def load(rows):
    return DataLoader(Noisy(rows), batch_size=8, num_workers=4)  # <- all workers draw the same numbers: each has a copy of the generator of `Noisy`
"""),
        # In a helper of the dataset; a start of the workers that seeds something else.
        Bad("""\
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Masked(Dataset):
    def __init__(self, texts, tokenizer):
        self.texts, self.tokenizer = texts, tokenizer
        self.random = random.Random(1)

    def __len__(self):
        return len(self.texts)

    def mask(self, ids):
        return [0 if self.random.random() < 0.15 else id for id in ids]

    def __getitem__(self, index):
        return torch.tensor(self.mask(self.tokenizer(self.texts[index]).input_ids))

def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)

class Data:
    def __init__(self, texts, tokenizer, workers=2):
        self.train = Masked(texts, tokenizer)
        self.workers = workers

    def loader(self):
        return DataLoader(self.train, batch_size=4, num_workers=self.workers, worker_init_fn=seed_worker)  # <- copy of the generator of `Masked`
"""),
        # Cells of a notebook; torch's own kind; an iterable dataset.
        Bad(
            {
                "data.ipynb": [
                    "import torch\nfrom torch.utils.data import DataLoader, IterableDataset",
                    (
                        "class Endless(IterableDataset):\n    def __init__(self, rows):\n        self.rows = rows\n"
                        "        self.generator = torch.Generator().manual_seed(3)\n\n    def __iter__(self):\n        while True:\n"
                        "            yield self.rows[torch.randint(len(self.rows), (1,), generator=self.generator).item()]"
                    ),
                    "loader = DataLoader(Endless(torch.load('rows.pt')), batch_size=4, num_workers=8)  # <- all workers draw the same numbers",
                ]
            }
        ),
        # One for the whole module.
        Bad("""\
import os

import numpy as np
from torch.utils.data import DataLoader, Dataset

RNG = np.random.RandomState(0)

class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        left = RNG.randint(0, 32)
        return self.images[index][:, left : left + 224]

def load(images):
    return DataLoader(Crops(images), batch_size=8, num_workers=os.cpu_count())  # <- copy of the generator of `Crops`
"""),
    ]
    good = [
        Good("""\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, rows, seed=0):
        self.rows, self.seed = rows, seed
        self.rng = None

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng(torch.initial_seed())
        return self.rows[index] + self.rng.normal(size=8)

def load(rows):
    return DataLoader(Noisy(rows), batch_size=8, num_workers=4)
"""),
        # One process, whatever that is; nobody says how many.
        Good("""\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, rows, seed=0):
        self.rows = rows
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.normal(size=8)

def load(rows, workers, options):
    yield DataLoader(Noisy(rows), batch_size=8)
    yield DataLoader(Noisy(rows), batch_size=8, num_workers=0)
    yield DataLoader(Noisy(rows), batch_size=8, num_workers=workers)
    yield DataLoader(Noisy(rows), **options)
"""),
        # The global generators, which torch seeds in each worker; one that draws when the dataset is made.
        Good("""\
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, rows):
        rng = np.random.default_rng(0)
        self.rows = [rows[index] for index in rng.permutation(len(rows))]
        self.shift = rng.normal()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index] + np.random.normal(size=8) + self.shift
        return row + random.random() + torch.rand(()).item()

def load(rows):
    return DataLoader(Noisy(rows), batch_size=8, num_workers=4)
"""),
        # Each item has its own; the workers start with their own.
        Good("""\
import numpy as np
import torch
from project import start_worker
from torch.utils.data import DataLoader, Dataset

class ByIndex(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = torch.Generator()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        self.generator.manual_seed(index)
        rng = np.random.default_rng(index)
        return self.rows[index] + torch.rand(8, generator=self.generator) + rng.normal()

class Noisy(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.normal(size=8)

def reseed(worker_id):
    info = torch.utils.data.get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)

def load(rows):
    yield DataLoader(ByIndex(rows), batch_size=8, num_workers=4)
    yield DataLoader(Noisy(rows), batch_size=8, num_workers=4, worker_init_fn=reseed)
    yield DataLoader(Noisy(rows), batch_size=8, num_workers=4, worker_init_fn=start_worker)
"""),
        # It knows its worker; the loader's own generator is for the order.
        Good("""\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Noisy(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.rngs = [np.random.default_rng(seed) for seed in range(64)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        info = get_worker_info()
        return self.rows[index] + self.rngs[info.id if info else 0].normal(size=8)

class Plain(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def load(rows):
    yield DataLoader(Noisy(rows), batch_size=8, num_workers=4)
    yield DataLoader(Plain(rows), shuffle=True, num_workers=4, generator=torch.Generator().manual_seed(0))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for dataset in facts.worked_datasets():
            if dataset.has_workers is not YES or dataset.draws_apart is not NO:
                continue
            made, draw = dataset.generator, dataset.shared_draw
            known = [(made, "makes the generator"), (draw, "draws from it")]
            yield self.report(
                dataset.loader.place,
                f"all workers draw the same numbers: each has a copy of the generator of `{dataset.name}`",
                related=[(call.place, what) for call, what in known if call is not None],
                help="make the generator in the worker, from `torch.utils.data.get_worker_info().seed`",
            )
