"""LLM501 unseeded-randomness."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import (
    NO,
    YES,
    Bad,
    Change,
    EnsureImport,
    Facts,
    Generator,
    Good,
    InsertAfter,
    InsertBefore,
    Place,
    Replace,
    Report,
    Rule,
    Severity,
)


class UnseededRandomness(Rule):
    """A program that trains or samples draws random numbers from a generator that nobody seeds.

    Two runs then differ in data order, initial weights and samples: a result can't be reproduced, and a regression
    can't be told from luck. Python, NumPy and torch have a generator each, and each is reported once, at its first
    draw; fresh weights and `shuffle=True` count as torch's if there is no other. `transformers.set_seed(...)` seeds all
    three, `torch.cuda.manual_seed_all` alone leaves the one on the CPU as it was.

    An entry point is looked at: the module itself, what is under its `__main__` guard, a notebook, or a function that
    nobody calls and that builds and trains by itself, in a file that is no part of a package. The rule is silent in
    libraries and tests, where a generator of its own is passed, where a seed comes in from outside even if it may be
    None, and where a function that is not seen may seed. Waiting times, ports and answers to a person at the keyboard
    need no seed. A `Trainer` seeds by itself when it is made: beside one, only what chose its data before counts.
    """

    code = "LLM501"
    severity = Severity.WARNING
    triggers = (
        "rand", "shuffle", "permut", "choice(", "sample(", "do_sample", "normal(", "normal_(", "bernoulli", "multinomial", "Linear", "Embedding", "Module", "from_config",
        "num_labels", "default_rng", "RandomState", "Random(", "Model(", "LM(", "ForSequenceClassification(", "_split(",
        "backward(",
    )  # fmt: skip
    bad = [
        Bad(
            """\
import random

import torch
from transformers import AutoModelForCausalLM

def main(texts):
    random.shuffle(texts)  # <- Python's generator
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    optimizer = torch.optim.AdamW(model.parameters())
    for text in texts:
        model(**text).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

if __name__ == "__main__":
    main(open("texts.txt").readlines())
""",
            fixed="""\
import random

import torch
from transformers import AutoModelForCausalLM

def main(texts):
    random.shuffle(texts)
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    optimizer = torch.optim.AdamW(model.parameters())
    for text in texts:
        model(**text).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

if __name__ == "__main__":
    random.seed(0)
    main(open("texts.txt").readlines())
""",
        ),
        # Each generator once; the module itself is the entry point, so a seed under the guard would come too late.
        Bad(
            """\
import numpy as np
from torch import nn, optim, utils

order = np.random.permutation(1000)  # <- NumPy's generator
net = nn.Linear(8, 1)  # <- torch's generator

def train(rows):
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for row in utils.data.DataLoader(rows, shuffle=True):
        optimizer.zero_grad()
        net(row).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    train(order)
""",
            fixed="""\
import numpy as np
import torch
from torch import nn, optim, utils
np.random.seed(0)
torch.manual_seed(0)

order = np.random.permutation(1000)
net = nn.Linear(8, 1)

def train(rows):
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for row in utils.data.DataLoader(rows, shuffle=True):
        optimizer.zero_grad()
        net(row).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    train(order)
""",
        ),
        # A process that is spawned has generators of its own.
        Bad(
            """\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, world):
    \"\"\"Train on one device.\"\"\"
    dist.init_process_group("nccl", rank=rank, world_size=world)
    net = torch.nn.Linear(8, 8).to(rank)  # <- torch's generator
    net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in torch.load("batches.pt"):
        optimizer.zero_grad()
        net(batch.to(rank)).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
""",
            fixed="""\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, world):
    \"\"\"Train on one device.\"\"\"
    torch.manual_seed(0)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    net = torch.nn.Linear(8, 8).to(rank)
    net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in torch.load("batches.pt"):
        optimizer.zero_grad()
        net(batch.to(rank)).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
""",
        ),
        # A notebook; seeds of the GPUs alone.
        Bad(
            {
                "probe.ipynb": [
                    """\
import torch
from torch import nn
torch.cuda.manual_seed_all(0)
""",
                    """\
def fit(features, labels):
    probe = nn.Linear(768, 2)  # <- torch's generator
    optimizer = torch.optim.Adam(probe.parameters())
    for _ in range(100):
        loss = nn.functional.cross_entropy(probe(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return probe
""",
                ]
            },
            fixed={
                "probe.ipynb": [
                    """\
import torch
from torch import nn
torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
""",
                    """\
def fit(features, labels):
    probe = nn.Linear(768, 2)
    optimizer = torch.optim.Adam(probe.parameters())
    for _ in range(100):
        loss = nn.functional.cross_entropy(probe(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return probe
""",
                ]
            },
        ),
        # Samples, asked for by a configuration.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
sampling = GenerationConfig(do_sample=True, top_p=0.9, max_new_tokens=50)
for prompt in open("prompts.txt", encoding="utf-8"):
    out = model.generate(**tokenizer(prompt, return_tensors="pt"), generation_config=sampling)  # <- torch's generator
    print(tokenizer.decode(out[0]))
""",
            fixed="""\
import torch

from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
torch.manual_seed(0)

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
sampling = GenerationConfig(do_sample=True, top_p=0.9, max_new_tokens=50)
for prompt in open("prompts.txt", encoding="utf-8"):
    out = model.generate(**tokenizer(prompt, return_tensors="pt"), generation_config=sampling)
    print(tokenizer.decode(out[0]))
""",
        ),
        # A generator of the program's own, made without a seed; and a split that scikit-learn draws from NumPy's.
        Bad(
            """\
import numpy as np
import torch
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
rng = np.random.default_rng()
train, test = train_test_split(torch.load("rows.pt"), test_size=0.2)  # <- NumPy's generator
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(1000):
    row = train[rng.integers(len(train))]  # <- `np.random.default_rng()` takes its seed from the machine
    optimizer.zero_grad()
    net(row).sum().backward()
    optimizer.step()
""",
            fixed="""\
import numpy as np
import torch
from sklearn.model_selection import train_test_split
np.random.seed(0)

torch.manual_seed(0)
rng = np.random.default_rng(0)
train, test = train_test_split(torch.load("rows.pt"), test_size=0.2)
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(1000):
    row = train[rng.integers(len(train))]
    optimizer.zero_grad()
    net(row).sum().backward()
    optimizer.step()
""",
        ),
        # The module that draws is seen, and no word in it is of seeds; one function seeds, and nobody calls it.
        Bad(
            {
                "negatives.py": """\
import random

def with_negative(pairs):
    for question, passage in pairs:
        yield question, passage, random.choice(pairs)[1]
""",
                "train.py": """\
import torch
from negatives import with_negative

def set_seed(seed):
    torch.manual_seed(seed)

def main():
    net = torch.nn.Linear(768, 128)  # <- torch's generator
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
    for question, passage, other in with_negative(torch.load("pairs.pt")):  # <- Python's generator
        loss = torch.nn.functional.triplet_margin_loss(net(question), net(passage), net(other))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
""",
            },
            fixed={
                "train.py": """\
import random

import torch
from negatives import with_negative

def set_seed(seed):
    torch.manual_seed(seed)

def main():
    net = torch.nn.Linear(768, 128)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
    for question, passage, other in with_negative(torch.load("pairs.pt")):
        loss = torch.nn.functional.triplet_margin_loss(net(question), net(passage), net(other))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    main()
""",
            },
        ),
        # The name is gone where the program begins to run: a seed that is written there would not seed.
        Bad("""\
import torch
from transformers import AutoModelForSequenceClassification

def main(loader):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)  # <- torch's generator
    for batch in loader:
        model(**batch).loss.backward()

torch = None
if __name__ == "__main__":
    main(open("texts.txt").readlines())
"""),
        # A trainer seeds when it is made: its data was chosen before.
        Bad(
            """\
import random

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

def few(dataset, shots):
    return dataset.select(random.sample(range(len(dataset)), shots))  # <- Python's generator

def main():
    train = few(load_dataset("imdb", split="train"), 64)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
    Trainer(model=model, args=TrainingArguments("out", seed=1), train_dataset=train).train()

if __name__ == "__main__":
    main()
""",
            fixed="""\
import random

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

def few(dataset, shots):
    return dataset.select(random.sample(range(len(dataset)), shots))

def main():
    train = few(load_dataset("imdb", split="train"), 64)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
    Trainer(model=model, args=TrainingArguments("out", seed=1), train_dataset=train).train()

if __name__ == "__main__":
    random.seed(0)
    main()
""",
        ),
    ]
    good = [
        Good("""\
import torch

torch.manual_seed(0)
layer = torch.nn.Linear(4, 4)
layer(torch.randn(2, 4)).sum().backward()
"""),
        # A function of the file seeds all three.
        Good("""\
import random

import numpy as np
import torch

def seed_everything(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)

seed_everything()
rows = np.random.permutation(9).tolist()
random.shuffle(rows)
layer = torch.nn.Linear(1, 1)
layer(torch.randn(3, 1)).sum().backward()
"""),
        # A seed that a user may give.
        Good("""\
import argparse
import random

from accelerate.utils import set_seed
from transformers import AutoModelForCausalLM

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    if arguments.seed is not None:
        set_seed(arguments.seed)
    rows = open("rows.txt").readlines()
    random.shuffle(rows)
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    for row in rows:
        model(input_ids=row, labels=row).loss.backward()

if __name__ == "__main__":
    main()
"""),
        # Generators of its own.
        Good("""\
import random

import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

rows = list(range(10))
random.Random(0).shuffle(rows)
np.random.default_rng(0).shuffle(rows)
generator = torch.Generator().manual_seed(0)
model = AutoModelForCausalLM.from_pretrained("gpt2")
for batch in DataLoader(rows, shuffle=True, generator=generator):
    model(input_ids=batch, labels=batch).loss.backward()
    noise = torch.randn(3, generator=generator)
"""),
        # Splits and shuffles that are given their seed.
        Good("""\
import torch
from datasets import load_dataset
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
rows = load_dataset("rows", split="train").shuffle(seed=1)
train, test = train_test_split(list(rows), test_size=0.2, random_state=2)
net = torch.nn.Linear(8, 1)
for row in train:
    net(row).sum().backward()
"""),
        # Seeded by the object that trains.
        Good("""\
import torch

class Experiment:
    def __init__(self, settings):
        self.settings = settings
        self.seed()
        self.net = torch.nn.Linear(3, 3)

    def seed(self):
        torch.manual_seed(self.settings["seed"])

    def fit(self, batches):
        for batch in batches:
            self.net(batch).sum().backward()

if __name__ == "__main__":
    Experiment({"seed": 3}).fit([torch.randn(3)])
"""),
        # `Trainer` seeds by itself.
        Good("""\
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
Trainer(model=model, args=TrainingArguments("out"), train_dataset=load_dataset("imdb")["train"]).train()
"""),
        # What is only shown to a person chooses nothing; what a collator draws, it draws after the trainer has seeded.
        Good("""\
import random

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

dataset = load_dataset("imdb", split="train")
for index in [random.randint(0, len(dataset) - 1) for _ in range(5)]:
    print(dataset[index]["text"])

def collate(rows):
    return {"input_ids": [row["ids"] for row in random.sample(rows, len(rows))]}

model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
Trainer(model=model, args=TrainingArguments("out"), train_dataset=dataset, data_collator=collate).train()
"""),
        # A library: whoever trains with it seeds.
        Good(
            {
                "noise/__init__.py": "",
                "noise/layers.py": """\
import random

import torch

class Noisy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x) + torch.randn_like(x)

def training_step(net, optimizer, rows):
    loss = net(random.choice(rows)).sum()
    loss.backward()
    optimizer.step()
""",
            }
        ),
        # So is a function that is handed its model, and one that another module of the project runs.
        Good("""\
import random

import torch

def fit(model, rows, epochs=3):
    optimizer = torch.optim.AdamW([{"params": [p for p in model.parameters() if p.requires_grad]}])
    for epoch in range(epochs):
        random.shuffle(rows)
        for row in rows:
            optimizer.zero_grad()
            model(**row).loss.backward()
            optimizer.step()
"""),
        Good(
            {
                "engine.py": """\
import torch

def fit(rows):
    net = torch.nn.Linear(2, 2)
    for row in rows:
        net(row).sum().backward()
""",
                "main.py": """\
import torch
from engine import fit

torch.manual_seed(0)
fit(torch.load("rows.pt"))
""",
            }
        ),
        # A group of commands seeds before any of them runs, and an experiment may.
        Good("""\
import random

import click
import torch
from sacred import Experiment

experiment = Experiment("probe")

@click.group()
@click.option("--seed", default=1)
def cli(seed):
    random.seed(seed)
    torch.manual_seed(seed)

@cli.command()
def train():
    torch.nn.Linear(2, 2)(torch.randn(3, 2)).sum().backward()

@experiment.main
def run():
    torch.nn.Linear(2, 2)(torch.randn(3, 2)).sum().backward()
"""),
        # A function that is not seen may seed.
        Good("""\
import random

from experiments import prepare
from transformers import AutoModelForCausalLM

prepare("configs/base.yaml")
rows = open("rows.txt").readlines()
random.shuffle(rows)
model = AutoModelForCausalLM.from_pretrained("gpt2")
for row in rows:
    model(input_ids=row, labels=row).loss.backward()
"""),
        Good("""\
import torch
from experiments import Experiment

class Probe(Experiment):
    def run(self):
        net = torch.nn.Linear(2, 2)
        net(torch.randn(2)).sum().backward()

if __name__ == "__main__":
    Probe("configs/base.yaml").run()
"""),
        # One that is seen does.
        Good(
            {
                "runs.py": """\
import torch

def start(name):
    torch.manual_seed(0)
    print("run", name)
""",
                "train.py": """\
import torch
from runs import start

start("first")
net = torch.nn.Linear(2, 2)
net(torch.randn(2)).sum().backward()
""",
            }
        ),
        # Neither trained nor sampled: a benchmark.
        Good("""\
import time

import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-cased")
ids = torch.randint(0, 1000, (8, 128))
with torch.no_grad():
    start = time.time()
    model(ids)
    print(time.time() - start)
"""),
        # A server's answers, and those to a person at the keyboard.
        Good("""\
from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoTokenizer

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

@app.post("/generate")
def generate(prompt: str):
    out = model.generate(**tokenizer(prompt, return_tensors="pt"), do_sample=True, max_new_tokens=50)
    return tokenizer.decode(out[0])
"""),
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
while True:
    message = input("> ")
    out = model.generate(**tokenizer(message, return_tensors="pt"), do_sample=True, max_new_tokens=50)
    print(tokenizer.decode(out[0]))
"""),
        # A port and a waiting time decide nothing.
        Good("""\
import os
import random
import time

import torch

os.environ["MASTER_PORT"] = str(random.randint(10000, 20000))
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
for attempt in range(3):
    time.sleep(random.random() * 2**attempt)
net(torch.ones(2)).sum().backward()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for generator in facts.generators():
            if generator.is_seeded is not NO or generator.matters is not YES:
                continue
            if generator.made is not None:
                yield self.report(
                    generator.first_draw,
                    f"`{generator.made.text}` takes its seed from the machine, so no two runs are alike",
                    related=[(generator.made, "made here without a seed")],
                    help="give it a seed",
                    fix=_given_a_seed(generator.made) if generator.made.path == generator.first_draw.path else [],
                )
            else:
                yield self.report(
                    generator.first_draw,
                    f"{generator.name}'s generator is never seeded, so no two runs are alike",
                    help=f"call `{generator.seeding}` first",
                    fix=_seeded(generator),
                )


def _given_a_seed(made: Place) -> list[Change]:
    return [Replace(made.range, made.text[:-1] + "0)")] if made.text.endswith("()") else []


def _seeded(generator: Generator) -> list[Change]:
    if generator.is_hidden:
        return []
    imports = [EnsureImport(generator.unimported)] if generator.unimported is not None else []
    if generator.entry is not None:
        return [*imports, InsertBefore(generator.entry.range, generator.seeding)]
    if generator.last_import is not None:
        return [*imports, InsertAfter(generator.last_import.range, generator.seeding)]
    return []
