"""LLM402 gradients-not-cleared."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Change, Facts, Good, InsertAfter, Replace, Report, Rule, Severity


class GradientsNotCleared(Rule):
    """An optimizer steps by gradients of the wrong batches: nobody clears them, or they are cleared at the wrong time.

    `backward` adds to the gradients that are there. Where nothing clears them, each step goes along the sum of all
    batches since the start: training still moves, as with a momentum that never fades, and diverges or ends far from
    where it should. Where they are cleared after `backward` and before the step, the optimizer sees none and nothing is
    learnt. Where they are cleared with every batch but the optimizer steps only with every fourth, or accelerate
    accumulates, three batches of four are lost. Nothing is raised.

    Call `optimizer.zero_grad()` right after `optimizer.step()`: that is right in all these loops.

    Reported are loops that compute gradients and step, if everything in them is known: a function, callback or wrapper
    that nobody sees may clear gradients, and so does code that sets `.grad` itself. Lightning, `Trainer`, DeepSpeed's
    engine and a step with a closure go their own ways.
    """

    code = "LLM402"
    severity = Severity.ERROR
    triggers = ("backward(",)
    bad = [
        Bad(
            """\
def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()  # <- adds to the gradients of all batches before
            optimizer.step()
""",
            fixed="""\
def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        # A class whose methods share the optimizer; a scaler steps with it.
        Bad(
            """\
import torch

class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, loss):
        self.scaler.scale(loss).backward()  # <- adds to the gradients of all batches before
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def fit(self):
        for batch in self.loader:
            self.step(self.model(**batch).loss)
""",
            fixed="""\
import torch

class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, loss):
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.optimizer.zero_grad()
        self.scaler.update()

    def fit(self):
        for batch in self.loader:
            self.step(self.model(**batch).loss)
""",
        ),
        # Cleared between the two; a notebook.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM, set_seed\n\nset_seed(1)\n"
                        'model = AutoModelForCausalLM.from_pretrained("gpt2")\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)"
                    ),
                    (
                        "for batch in loader:\n    model(**batch).loss.backward()\n"
                        "    optimizer.zero_grad()  # <- clears the gradients before `optimizer.step` uses them\n    optimizer.step()"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM, set_seed\n\nset_seed(1)\n"
                        'model = AutoModelForCausalLM.from_pretrained("gpt2")\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)"
                    ),
                    "for batch in loader:\n    model(**batch).loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()",
                ]
            },
        ),
        # With every batch, where the optimizer steps with some.
        Bad(
            """\
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            optimizer.zero_grad()  # <- clears what the batches before have accumulated
            accelerator.backward(model(**batch).loss)
            optimizer.step()
""",
            fixed="""\
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        Bad(
            """\
def train(model, loader, optimizer, steps=4):
    model.train()
    for index, batch in enumerate(loader):
        model.zero_grad()  # <- clears what the batches before have accumulated
        loss = model(**batch).loss / steps
        loss.backward()
        if (index + 1) % steps == 0:
            optimizer.step()
""",
            fixed="""\
def train(model, loader, optimizer, steps=4):
    model.train()
    for index, batch in enumerate(loader):
        loss = model(**batch).loss / steps
        loss.backward()
        if (index + 1) % steps == 0:
            optimizer.step()
            model.zero_grad()
""",
        ),
        # A helper, called from a loop over the parts of a batch.
        Bad("""\
def accumulate(model, optimizer, part):
    optimizer.zero_grad()  # <- clears what the batches before have accumulated
    model(**part).loss.backward()

def train(model, loader, optimizer):
    for batch in loader:
        for part in batch.split(4):
            accumulate(model, optimizer, part)
        optimizer.step()
"""),
        # A helper that clears for others, and is told not to.
        Bad("""\
def step(model, optimizer, batch, clear):
    model(**batch).loss.backward()
    optimizer.step()
    if clear:
        optimizer.zero_grad()

def fit(model, loader, optimizer):
    for batch in loader:
        step(model, optimizer, batch, True)

def fit_wrongly(model, loader, optimizer):
    for batch in loader:
        step(model, optimizer, batch, False)  # <- adds to the gradients of all batches before
"""),
    ]
    good = [
        Good("""\
def train(model, loader, optimizer):
    for batch in loader:
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        Good("""\
def train(model, loader, optimizer, steps=4):
    for index, batch in enumerate(loader):
        loss = model(**batch).loss / steps
        loss.backward()
        if (index + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""),
        Good("""\
def train(model, loader, optimizer, steps=4):
    for index, batch in enumerate(loader):
        if index % steps == 0:
            optimizer.zero_grad()
        (model(**batch).loss / steps).backward()
        if index % steps == steps - 1:
            optimizer.step()
"""),
        # In a helper, a callback, a closure.
        Good("""\
import torch

class Loop:
    def __init__(self, model, optimizer, callbacks):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks

    def clear(self):
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def fit(self, loader):
        for batch in loader:
            self.model(**batch).loss.backward()
            self.optimizer.step()
            self.clear()
"""),
        Good("""\
def fit(model, loader, optimizer, callbacks):
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        callbacks.on_step_end(model)
"""),
        Good("""\
import torch

def fit(model, loader):
    optimizer = torch.optim.LBFGS(model.parameters())
    for batch in loader:
        def closure():
            optimizer.zero_grad()
            loss = model(**batch).loss
            loss.backward()
            return loss
        optimizer.step(closure)
"""),
        # A function of another module gets the optimizer.
        Good("""\
from steps import finish

def fit(model, loader, optimizer):
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        finish(optimizer)
"""),
        # One step for each model that the loop makes.
        Good("""\
import torch

def check(make, batch):
    for seed in range(3):
        torch.manual_seed(seed)
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(**batch).loss.backward()
        optimizer.step()
        print(seed, sum(p.sum().item() for p in model.parameters()))
"""),
        # Two optimizers take turns: each is cleared before its own backward.
        Good("""\
def train(loader, generator, critic, optimizer_g, optimizer_c, noise):
    for index, real in enumerate(loader):
        optimizer_c.zero_grad()
        (critic(generator(noise()).detach()).mean() - critic(real).mean()).backward()
        optimizer_c.step()
        if index % 5 == 0:
            optimizer_g.zero_grad()
            (-critic(generator(noise())).mean()).backward()
            optimizer_c.zero_grad()
            optimizer_g.step()
"""),
        # A round without a step ends early; another model is cleared.
        Good("""\
import torch

def train(model, teacher, loader, optimizer):
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        if torch.isnan(loss):
            optimizer.zero_grad()
            continue
        teacher.zero_grad()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # accelerate: after the step; and with a batch that stands alone, whatever the order.
        Good("""\
from accelerate import Accelerator

def train(model, optimizer, loader, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            optimizer.zero_grad()

def train_simply(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            optimizer.zero_grad()
            accelerator.backward(model(**batch).loss)
            optimizer.step()
"""),
        # DeepSpeed's engine clears by itself, and so may Lightning's.
        Good("""\
import deepspeed
import lightning as L

def train(model, loader, settings):
    engine, _, _, _ = deepspeed.initialize(model=model, config=settings)
    for batch in loader:
        engine.backward(engine(**batch).loss)
        engine.step()

class Module(L.LightningModule):
    def training_step(self, batch, index):
        optimizer = self.optimizers()
        self.manual_backward(self(batch).loss)
        optimizer.step()
"""),
        # The gradients of several losses are meant to add up.
        Good("""\
def train(model, loader, tasks, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        for task in tasks:
            task(model(**batch)).backward()
        optimizer.step()
"""),
        # A last step for what the loop over batches has left.
        Good("""\
def train(model, loader, optimizer, epochs):
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
        optimizer.step()
"""),
        # Gradients for the input, in a loop of their own.
        Good("""\
import torch

def attack(model, loader, optimizer, rounds):
    for x, y in loader:
        delta = torch.zeros_like(x, requires_grad=True)
        for _ in range(rounds):
            optimizer.zero_grad()
            model(x + delta, y).backward()
        optimizer.zero_grad()
        model(x + delta.detach(), y).backward()
        optimizer.step()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        updates = list(facts.updates())
        never = {update.backward.record.id: update for update in updates if update.is_ever_cleared is NO}
        backwards = [update.backward for update in updates]
        for backward, place in facts.where_all_chains_agree(backwards, lambda call: call.record.id in never):
            step, optimizer = never[backward.record.id].step, never[backward.record.id].optimizer
            is_here = optimizer is not None and place == backward.place and step.place.path == place.path
            yield self.report(
                place,
                "adds to the gradients of all batches before: nothing in this loop clears them",
                related=[(step.place, "steps by the sum")],
                help="call `zero_grad()` after the step",
                fix=[InsertAfter(step.place.range, f"{optimizer}.zero_grad()")] if is_here else (),
            )
        for update in updates:
            clear = update.misplaced_clear
            if clear is None or update.is_cleared_in_time is not NO:
                continue
            step = update.step
            lost = (
                f"the gradients before `{step.callee}` uses them"
                if update.is_cleared_early
                else (f"what the batches before have accumulated for `{step.callee}`")
            )
            move: list[Change] = [Replace(clear.place.range, ""), InsertAfter(step.place.range, clear.place.text)]
            yield self.report(
                clear.place,
                f"`{clear.callee}` clears {lost}",
                related=[(step.place, "steps here")],
                help="clear after the step",
                fix=move if update.can_be_moved else (),
            )
