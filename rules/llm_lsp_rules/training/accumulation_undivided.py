"""LLM404 accumulation-undivided."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, Facts, Good, MicroBatches, Replace, Report, Rule, Severity


class AccumulationUndivided(Rule):
    """Gradients of several batches are summed where their mean is meant: the step grows with their number.

    `backward` adds. A loss is a mean over its batch, so that four calls of `backward` before a step give four times the
    gradient of one batch four times as large. Clipping cuts it back every time, weight decay and the learning rate no
    longer fit, and whoever changes the number of micro-batches to fit a GPU changes the training. Nothing is raised.

    Divide the loss by the number of batches before `backward`.

    Reported are losses that are a mean as they come: of torch with its default reduction, `.mean()`, the `loss` of a
    model's output. Silent are losses that are divided or multiplied by anything, sums, gradients that the program scales
    itself, an optimizer whose learning rate is divided, loops over tasks, and accelerate, DeepSpeed, and the `Trainer` of
    transformers and of Lightning, which divide by themselves; Fabric does not.
    """

    code = "LLM404"
    severity = Severity.WARNING
    triggers = ("backward(",)
    bad = [
        Bad(
            """\
import torch.nn.functional as F

def train(model, loader, optimizer, accumulation_steps):
    model.train()
    for index, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()  # <- adds the gradients of `accumulation_steps` batches: `loss` is a mean over one, and is not divided
        if (index + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
            fixed="""\
import torch.nn.functional as F

def train(model, loader, optimizer, accumulation_steps):
    model.train()
    for index, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        (loss / accumulation_steps).backward()
        if (index + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        # A loop of its own; a scaler; a class whose methods share it all.
        Bad(
            """\
import torch
from torch import nn

class Trainer:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.criterion = nn.CrossEntropyLoss(ignore_index=0)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def fit(self, batches):
        self.model.train()
        for step in range(self.config.steps):
            for _ in range(self.config.grad_accum):
                x, y = next(batches)
                loss = self.criterion(self.model(x), y)
                self.scaler.scale(loss).backward()  # <- adds the gradients of `self.config.grad_accum` batches
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
""",
            fixed="""\
import torch
from torch import nn

class Trainer:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.criterion = nn.CrossEntropyLoss(ignore_index=0)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def fit(self, batches):
        self.model.train()
        for step in range(self.config.steps):
            for _ in range(self.config.grad_accum):
                x, y = next(batches)
                loss = self.criterion(self.model(x), y)
                self.scaler.scale(loss / self.config.grad_accum).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
""",
        ),
        # Cells of a notebook; the model's own loss.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM, set_seed\n\nset_seed(1)\n"
                        'model = AutoModelForCausalLM.from_pretrained("gpt2").train()\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)"
                    ),
                    (
                        "for step, batch in enumerate(loader, start=1):\n    model(**batch).loss.backward()  # <- adds the gradients of `8` batches\n"
                        "    if step % 8 == 0 or step == len(loader):\n        optimizer.step()\n        optimizer.zero_grad()"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM, set_seed\n\nset_seed(1)\n"
                        'model = AutoModelForCausalLM.from_pretrained("gpt2").train()\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)"
                    ),
                    (
                        "for step, batch in enumerate(loader, start=1):\n    (model(**batch).loss / 8).backward()\n"
                        "    if step % 8 == 0 or step == len(loader):\n        optimizer.step()\n        optimizer.zero_grad()"
                    ),
                ]
            },
        ),
        # A helper that is called from the loop; parts of one batch.
        Bad("""\
def add_gradients(model, part):
    loss = model(**part).loss
    loss.backward()  # <- adds the gradients of several batches

def train(model, loader, optimizer):
    model.train()
    for batch in loader:
        for part in batch.split(4):
            add_gradients(model, part)
        optimizer.step()
        optimizer.zero_grad()
"""),
        # The program's own model, of which the loss is one of two results.
        Bad(
            """\
import torch
from torch import nn
from torch.nn import functional as F

class Language(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids, targets):
        logits = self.head(self.embed(ids))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

def train(get_batch, steps, micro_batches=4):
    torch.manual_seed(0)
    model = Language(100, 32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        for micro_step in range(micro_batches):
            ids, targets = get_batch()
            logits, loss = model(ids, targets)
            loss.backward(retain_graph=False)  # <- adds the gradients of `micro_batches` batches
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
""",
            fixed="""\
import torch
from torch import nn
from torch.nn import functional as F

class Language(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids, targets):
        logits = self.head(self.embed(ids))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

def train(get_batch, steps, micro_batches=4):
    torch.manual_seed(0)
    model = Language(100, 32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        for micro_step in range(micro_batches):
            ids, targets = get_batch()
            logits, loss = model(ids, targets)
            (loss / micro_batches).backward(retain_graph=False)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
""",
        ),
        # Fabric takes the loss as it is.
        Bad("""\
import lightning as L
import torch.nn.functional as F

def train(fabric: L.Fabric, model, loader, optimizer, accumulation):
    for index, (x, y) in enumerate(loader, start=1):
        is_accumulating = index % accumulation != 0
        with fabric.no_backward_sync(model, enabled=is_accumulating):
            loss = F.cross_entropy(model(x), y)
            fabric.backward(loss)  # <- adds the gradients of several batches: `loss` is a mean over one
        if not is_accumulating:
            optimizer.step()
            optimizer.zero_grad()
"""),
    ]
    good = [
        Good("""\
import torch.nn.functional as F

def train(model, loader, optimizer, accumulation_steps):
    model.train()
    for index, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / accumulation_steps
        loss.backward()
        if (index + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""),
        # Sums, divided by the tokens of the whole step; weights; a loss of parts.
        Good("""\
import torch.nn.functional as F

def train(model, steps, optimizer, weight):
    model.train()
    for micro in steps:
        tokens = sum(y.numel() for _, y in micro)
        for x, y in micro:
            loss = F.cross_entropy(model(x), y, reduction="sum")
            (loss / tokens).backward()
        for x, y in micro:
            F.cross_entropy(model(x), y, reduction="sum").backward()
        for x, y in micro:
            loss = F.cross_entropy(model(x), y) * weight
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # A step with every batch, once an epoch, and for each task.
        Good("""\
def train(model, loader, tasks, optimizer):
    model.train()
    for index, batch in enumerate(loader):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if index % 100 == 0:
            print(index)
    for batch in loader:
        for task in tasks:
            model(**batch, task=task).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # Somebody divides: a library, the program itself, the learning rate.
        Good("""\
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            optimizer.zero_grad()
"""),
        Good("""\
def train(model, loader, optimizer, accumulation):
    model.train()
    for index, batch in enumerate(loader):
        model(**batch).loss.backward()
        if (index + 1) % accumulation == 0:
            for parameter in model.parameters():
                parameter.grad /= accumulation
            optimizer.step()
            optimizer.zero_grad()
"""),
        Good("""\
import torch

def train(model, loader, lr, accumulation):
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr / accumulation)
    for index, batch in enumerate(loader):
        model(**batch).loss.backward()
        if (index + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
"""),
        # What the loss is, nobody sees; its sum over the batch is asked for; one batch for each step.
        Good("""\
from project import loss_of

def train(model, criterion, loader, optimizer, accumulation):
    model.train()
    for index, batch in enumerate(loader):
        loss_of(model, batch).backward()
        if (index + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
    for index, (x, y) in enumerate(loader):
        criterion(model(x), y).backward()
        if (index + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
    for index, batch in enumerate(loader):
        model(**batch, num_items_in_batch=512).loss.backward()
        if (index + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
    for index, batch in enumerate(loader):
        model(**batch).loss.backward()
        if (index + 1) % 1 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""),
        Good("""\
import lightning as L
import torch.nn.functional as F

def train(model, loader, optimizer, accumulation):
    fabric = L.Fabric()
    model, optimizer = fabric.setup(model, optimizer)
    model.train()
    for index, (x, y) in enumerate(loader, start=1):
        fabric.backward(F.cross_entropy(model(x), y) / accumulation)
        if index % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
"""),
        # Two networks in turn: each has its own rounds.
        Good("""\
import torch
from torch import nn

def train(G, D, loader, g_optimizer, d_optimizer, n_critic=5):
    loss = nn.BCEWithLogitsLoss()
    G.train()
    D.train()
    for index, real in enumerate(loader):
        d_optimizer.zero_grad()
        loss(D(real), torch.ones(len(real), 1)).backward()
        d_optimizer.step()
        if index % n_critic == 0:
            g_optimizer.zero_grad()
            loss(D(G(torch.randn(len(real), 16))), torch.ones(len(real), 1)).backward()
            g_optimizer.step()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        faults = {parts.backward.record.id: parts for parts in facts.micro_batches() if is_a_fault(parts)}
        calls = [parts.backward for parts in faults.values()]
        for call, place in facts.where_all_chains_agree(
            calls, lambda one: one.record.id in faults, in_this_module=True
        ):
            parts = faults[call.record.id]
            count, loss = parts.count, parts.loss
            many = f"`{count.text}` batches" if count is not None else "several batches"
            what = f"`{loss.text}`" if loss is not None and "\n" not in loss.text else "the loss"
            yield self.report(
                place,
                f"adds the gradients of {many}: {what} is a mean over one, and is not divided",
                help="divide the loss by the number of batches before `backward`",
                fix=divided(parts),
            )


def is_a_fault(parts: MicroBatches) -> bool:
    return parts.is_accumulation is YES and parts.is_divided is NO


def divided(parts: MicroBatches) -> list[Change]:
    count, loss = parts.count, parts.loss
    if count is None or loss is None or not parts.is_written_beside:
        return []
    text = f"{loss.text} / {count.text}"
    return [Replace(loss.range, text if parts.is_scaled else f"({text})")]
