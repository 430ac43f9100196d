"""LLM403 scheduler-before-optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, InsertAfter, Replace, Report, Rule, Severity


class SchedulerBeforeOptimizer(Rule):
    """A learning rate schedule moves at the wrong time: before its optimizer, or once for each of the wrong things.

    A schedule sets the first rate when it is made, and the next one whenever it is stepped. Stepped before
    `optimizer.step()`, it goes on before the first rate was ever used: with a warm-up that is one step of the ramp,
    with `StepLR` the whole schedule comes an epoch early. torch warns of it once, at run time.

    A schedule that is as long as there are epochs is over after as many batches if it is stepped with every batch: the
    rate falls to its end within the first minute. One that is as long as there are batches hardly moves if it is
    stepped once an epoch: training never leaves the warm-up.

    Reported are schedules of torch and transformers whose making is seen. A step that is told its epoch or a metric is
    none of these, and accelerate, Lightning and `Trainer` step schedules in their own way.
    """

    code = "LLM403"
    severity = Severity.WARNING
    triggers = ("sched", "Sched")
    bad = [
        Bad(
            """\
import torch

def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer)
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        scheduler.step()  # <- comes before `optimizer.step`
        optimizer.step()
""",
            fixed="""\
import torch

def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer)
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
        scheduler.step()
""",
        ),
        # A class whose methods share both; the schedule moves at the head of each epoch.
        Bad("""\
import torch

class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 10)

    def epoch(self):
        for batch in self.loader:
            self.optimizer.zero_grad()
            self.model(**batch).loss.backward()
            self.optimizer.step()

    def fit(self, epochs):
        for _ in range(epochs):
            self.scheduler.step()  # <- comes before `self.optimizer.step`
            self.epoch()
"""),
        # A length in epochs, and a step with every batch; a notebook.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom torch.optim.lr_scheduler import CosineAnnealingLR\n\nfrom data import loader, model\n\n"
                        "n_epochs = 10\noptimizer = torch.optim.AdamW(model.parameters())\n"
                        "scheduler = CosineAnnealingLR(optimizer, T_max=n_epochs)"
                    ),
                    (
                        "for epoch in range(n_epochs):\n    for batch in loader:\n        optimizer.zero_grad()\n"
                        "        model(**batch).loss.backward()\n        optimizer.step()\n"
                        "        scheduler.step()  # <- moves with every batch, and `n_epochs` counts epochs"
                    ),
                ]
            }
        ),
        # A length in batches, and a step with every epoch; a helper that a loop calls.
        Bad("""\
from transformers import get_linear_schedule_with_warmup

def run(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()

def train(model, loader, optimizer, epochs):
    scheduler = get_linear_schedule_with_warmup(optimizer, 100, len(loader) * epochs)
    for epoch in range(epochs):
        run(model, loader, optimizer)
        scheduler.step()  # <- moves once an epoch, and `len(loader) * epochs` counts batches
"""),
    ]
    good = [
        Good("""\
import torch

def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
            scheduler.step()
"""),
        Good("""\
import torch

def train(model, loader, validate, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
        plateau.step(validate(model))
        cosine.step()
"""),
        # Told its epoch; from the second round on; in a loop of its own after a resume.
        Good("""\
import torch

def train(model, loader, epochs, start):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=5)
    second = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for _ in range(start):
        second.step()
    for epoch in range(epochs):
        first.step(epoch)
        if epoch > 0:
            second.step()
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
"""),
        # accelerate steps it with the optimizer; a schedule of the program's own sets what comes next.
        Good("""\
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup

class Warmup:
    def __init__(self, optimizer):
        self.optimizer, self.count = optimizer, 0

    def step(self):
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, self.count / 100)

def train(model, loader, optimizer):
    accelerator = Accelerator()
    scheduler = get_linear_schedule_with_warmup(optimizer, 100, len(loader))
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        scheduler.step()
        optimizer.step()
        optimizer.zero_grad()

def train_by_hand(model, loader, optimizer):
    schedule = Warmup(optimizer)
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        schedule.step()
        optimizer.step()
"""),
        # Two optimizers: each schedule follows its own.
        Good("""\
import torch

def train(loader, generator, critic, loss_g, loss_c):
    opt_g = torch.optim.Adam(generator.parameters())
    opt_c = torch.optim.Adam(critic.parameters())
    schedule_g = torch.optim.lr_scheduler.ExponentialLR(opt_g, 0.99)
    schedule_c = torch.optim.lr_scheduler.ExponentialLR(opt_c, 0.99)
    for real in loader:
        opt_c.zero_grad()
        loss_c(critic(real), critic(generator(real))).backward()
        opt_c.step()
        schedule_c.step()
        opt_g.zero_grad()
        loss_g(critic(generator(real))).backward()
        opt_g.step()
        schedule_g.step()
"""),
        # One or the other; and where it comes from is not seen.
        Good("""\
import torch
from plans import make_schedule

def train(model, loader, optimizer, settings):
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    other = make_schedule(optimizer)
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        other.step()
        if settings.early:
            schedule.step()
        optimizer.step()
        if not settings.early:
            schedule.step()
"""),
        # A schedule in epochs, stepped where an epoch of one batch ends; one in steps that says nothing else.
        Good("""\
import torch

def train(model, batch, epochs, length):
    optimizer = torch.optim.AdamW(model.parameters())
    first = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    second = torch.optim.lr_scheduler.StepLR(optimizer, step_size=length)
    for epoch in range(epochs):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
        first.step()
        second.step()
"""),
        Good("""\
import torch

def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, epochs=epochs, steps_per_epoch=len(loader))
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
            scheduler.step()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for one in facts.schedule_steps():
            call, length = one.call, one.length
            if one.follows_the_optimizer is NO:
                step = one.optimizer_step
                yield self.report(
                    call.place,
                    f"comes before `{step.callee}`: the first rate of the schedule is never used",
                    related=[(step.place, "the optimizer steps here")],
                    help="step the schedule after the optimizer",
                    fix=[Replace(call.place.range, ""), InsertAfter(step.place.range, call.place.text)]
                    if one.can_be_moved
                    else (),
                )
            elif length is not None and one.made is not None:
                batches, every = one.is_counted_in_batches, one.comes_with_every_batch
                related = [(one.made.place, "the schedule is made here")]
                if batches is NO and every is YES:
                    words = f"moves with every batch, and `{length.text}` counts epochs"
                    yield self.report(
                        call.place, words, related=related, help="step it once an epoch, or count batches"
                    )
                elif batches is YES and every is NO:
                    words = f"moves once an epoch, and `{length.text}` counts batches"
                    yield self.report(
                        call.place, words, related=related, help="step it after every step of the optimizer"
                    )
