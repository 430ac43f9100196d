"""LLM601 epoch-not-set."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, Facts, Good, InsertBefore, RepeatedLoader, Report, Rule, Severity


class EpochNotSet(Rule):
    """A distributed sampler is never told the epoch, so every epoch comes in the order of the first.

    `DistributedSampler` draws its permutation from its seed and its epoch alone, so that all processes draw the same
    one. The epoch is 0 until somebody calls `set_epoch`: without it each process sees the same samples in the same
    order, in the same batches, in every epoch. Training runs, and generalises worse than with one process.

    Call `sampler.set_epoch(epoch)` at the beginning of each epoch; a loader's sampler is `loader.sampler`. `Trainer`,
    Lightning and loaders that `accelerator.prepare` returns do it themselves.

    Reported is a loader with such a sampler that is run through for training, or by a generator, in each round of a
    loop over a `range` or of a `while`, if nothing in the program may call `set_epoch` on its sampler. Silent are
    `shuffle=False`, a single epoch, loaders that are made anew in each round, and samplers of the program's own.
    """

    code = "LLM601"
    severity = Severity.ERROR
    triggers = ("DistributedSampler", "init_process_group")
    bad = [
        # One function does it all.
        Bad(
            """\
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def fit(model, optimizer, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    model.train()
    for epoch in range(epochs):
        for batch in loader:  # <- `loader` comes in the same order in every round: its sampler is never told the epoch
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""",
            fixed="""\
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def fit(model, optimizer, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    model.train()
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""",
        ),
        # A loader of torchdata; epochs that the caller counts.
        Bad(
            """\
from torch.utils.data import DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader

def fit(model, optimizer, dataset, epochs):
    loader = StatefulDataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))
    model.train()
    for epoch in epochs:
        for batch in loader:  # <- `loader` comes in the same order in every round
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
""",
            fixed="""\
from torch.utils.data import DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader

def fit(model, optimizer, dataset, epochs):
    loader = StatefulDataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))
    model.train()
    for epoch in epochs:
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
""",
        ),
        # A generator that never ends has no epoch to tell.
        Bad(
            """\
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def endless(loader):
    while True:
        yield from loader  # <- comes in the same order in every round

def batches(dataset, rank, world):
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank)
    return endless(DataLoader(dataset, sampler=sampler))
""",
        ),
        # A class whose methods share the loader.
        Bad(
            """\
import torch
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm

class Fitting:
    def __init__(self, model, optimizer, dataset):
        self.model = model
        self.optimizer = optimizer
        self.loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, shuffle=True))

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            for step, batch in enumerate(tqdm(self.loader)):  # <- `self.loader` comes in the same order in every round
                self.model(**batch).loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
""",
            fixed="""\
import torch
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm

class Fitting:
    def __init__(self, model, optimizer, dataset):
        self.model = model
        self.optimizer = optimizer
        self.loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, shuffle=True))

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            self.loader.sampler.set_epoch(epoch)
            for step, batch in enumerate(tqdm(self.loader)):
                self.model(**batch).loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
""",
        ),
        # A helper that the loop calls; only its caller counts the epochs.
        Bad(
            """\
import torch
import torch.utils.data as data

def train_one_epoch(model, optimizer, loader):
    model.train()
    for batch in loader:  # <- `loader` comes in the same order in every round
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def main(model, optimizer, dataset):
    sampler = data.DistributedSampler(dataset, drop_last=True)
    loader = data.DataLoader(dataset, sampler=sampler)
    for epoch in range(10):
        train_one_epoch(model, optimizer, loader)
""",
            fixed="""\
import torch
import torch.utils.data as data

def train_one_epoch(model, optimizer, loader):
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def main(model, optimizer, dataset):
    sampler = data.DistributedSampler(dataset, drop_last=True)
    loader = data.DataLoader(dataset, sampler=sampler)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        train_one_epoch(model, optimizer, loader)
""",
        ),
        # Steps are counted, and the iterator is renewed when it ends.
        Bad(
            """\
import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

def fit(model, optimizer, dataset, steps):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_sampler=BatchSampler(sampler, 8, drop_last=True))
    batches = iter(loader)
    model.train()
    for step in range(steps):
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)  # <- `loader` comes in the same order in every round
            batch = next(batches)
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
        # Only the run on several processes has such a sampler; the variable says nothing of the epoch.
        Bad(
            """\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    loader = DataLoader(dataset, shuffle=sampler is None, sampler=sampler)
    model.train()
    for _ in range(3):
        for batch in loader:  # <- `loader` comes in the same order in every round
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        # Cells of a notebook, with a loader that was made in another one.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom torch.utils.data import DataLoader, DistributedSampler\n"
                        "from transformers import AutoModelForSequenceClassification, set_seed\n\nset_seed(0)\n"
                        "model = AutoModelForSequenceClassification.from_pretrained('bert-base-uncased')"
                    ),
                    (
                        "data = torch.load('train.pt')\nloader = DataLoader(data, sampler=DistributedSampler(data))\n"
                        "optimizer = torch.optim.AdamW(model.parameters())"
                    ),
                    (
                        "model.train()\nfor epoch in range(3):\n    for batch in loader:  # <- comes in the same order in every round\n"
                        "        model(**batch).loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    (
                        "import torch\nfrom torch.utils.data import DataLoader, DistributedSampler\n"
                        "from transformers import AutoModelForSequenceClassification, set_seed\n\nset_seed(0)\n"
                        "model = AutoModelForSequenceClassification.from_pretrained('bert-base-uncased')"
                    ),
                    (
                        "data = torch.load('train.pt')\nloader = DataLoader(data, sampler=DistributedSampler(data))\n"
                        "optimizer = torch.optim.AdamW(model.parameters())"
                    ),
                    (
                        "model.train()\nfor epoch in range(3):\n    loader.sampler.set_epoch(epoch)\n    for batch in loader:\n"
                        "        model(**batch).loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()"
                    ),
                ]
            },
        ),
    ]
    good = [
        Good("""\
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def fit(model, optimizer, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    model.train()
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""),
        Good("""\
from itertools import count

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def endless(loader):
    for epoch in count():
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(epoch)
        yield from loader

def batches(dataset, rank, world):
    return endless(DataLoader(dataset, sampler=DistributedSampler(dataset, num_replicas=world, rank=rank)))
"""),
        # The order is meant to stay; the sampler of a validation need not know.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, training, validation, epochs):
    train_sampler = DistributedSampler(training)
    train_loader = DataLoader(training, sampler=train_sampler)
    loader = DataLoader(validation, sampler=DistributedSampler(validation))
    fixed = DataLoader(training, sampler=DistributedSampler(training, shuffle=False))
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)
        model.train()
        for batch in [*train_loader, *fixed]:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            for batch in loader:
                print(model(**batch).loss.item())
"""),
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset, epochs):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=False))
    model.train()
    for epoch in range(epochs):
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # One epoch.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    model.train()
    for epoch in range(1):
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # accelerate's loaders set the epoch themselves.
        Good("""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset, epochs):
    accelerator = Accelerator()
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for epoch in range(epochs):
        for batch in loader:
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            optimizer.zero_grad()
"""),
        # Somebody else is given the sampler, or the loader.
        Good("""\
import torch
from project import Epochs
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    hook = Epochs(sampler)
    model.train()
    for epoch in range(epochs):
        hook.begin(epoch)
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # The order is drawn from another seed each time, or the sampler is the program's own.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

class Resumable(DistributedSampler):
    def __iter__(self):
        self.set_epoch(self.epoch + 1)
        return super().__iter__()

def fit(model, optimizer, dataset, epochs):
    own = DataLoader(dataset, sampler=Resumable(dataset))
    model.train()
    for epoch in range(epochs):
        loader = DataLoader(dataset, sampler=DistributedSampler(dataset, seed=epoch))
        for batch, other in zip(loader, own):
            model(**batch, **other).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # The rounds are over learning rates, which are to be compared on the same order.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def compare(make, dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for rate in (1e-4, 1e-5):
        model = make()
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
        model.train()
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # A loader that shuffles by itself, with one process.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

def fit(model, optimizer, dataset, epochs, distributed):
    sampler = RandomSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    model.train()
    torch.manual_seed(0)
    for epoch in range(epochs):
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # Whoever is called back finds the loader.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset, epochs, callbacks):
    context = {"loader": DataLoader(dataset, sampler=DistributedSampler(dataset))}
    loader = context["loader"]
    model.train()
    for epoch in range(epochs):
        for callback in callbacks:
            callback(context, epoch)
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # The attribute is what `set_epoch` sets; a loop that is left repeats nothing.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def fit(model, optimizer, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    model.train()
    for epoch in range(epochs):
        sampler.epoch = epoch
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

def first_that_works(model, optimizer, dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for attempt in range(3):
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return attempt
"""),
        # The module's own helper tells every sampler that can be told.
        Good("""\
import torch
from torch.utils.data import DataLoader, DistributedSampler

def tell(loader, epoch):
    set_epoch = getattr(loader.sampler, "set_epoch", None)
    if set_epoch is not None:
        set_epoch(epoch)

def fit(model, optimizer, dataset, epochs):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    model.train()
    for epoch in range(epochs):
        tell(loader, epoch)
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # One round, and rounds over something else than epochs.
        Good("""\
from torch.utils.data import DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader

def fit(model, optimizer, dataset, last, domains):
    loader = StatefulDataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))
    model.train()
    for epoch in [last]:
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    for domain in domains:
        for batch in loader:
            optimizer.zero_grad()
            model(**batch, domain=domain).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for loader in facts.repeated_loaders():
            place = loader.place
            if place is None or place in seen or not is_a_fault(loader):
                continue
            seen.add(place)
            yield self.report(
                place,
                f"`{loader.text}` comes in the same order in every round: its sampler is never told the epoch",
                related=[(loader.sampler.place, "draws the permutation of epoch 0")],
                help="call `set_epoch` on the sampler at the beginning of each round",
                fix=tell_the_epoch(loader),
                safe=loader.is_told_by_name,
            )


def is_a_fault(loader: RepeatedLoader) -> bool:
    return (
        loader.is_shuffled is YES
        and loader.repeats is YES
        and loader.is_trained_on is YES
        and loader.epoch_is_set is NO
    )


def tell_the_epoch(loader: RepeatedLoader) -> list[Change]:
    before, sampler, epoch = loader.before, loader.sampler_text, loader.counted_by
    if loader.is_optional or before is None or sampler is None or epoch is None:
        return []
    return [InsertBefore(before.range, f"{sampler}.set_epoch({epoch})")]
