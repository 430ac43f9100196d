"""LLM305 clip-before-unscale."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, InsertBefore, Report, Rule, Severity


class ClipBeforeUnscale(Rule):
    """Gradients are clipped while the loss scale still multiplies them.

    `scaler.scale(loss)` multiplies the loss, and with it every gradient, by a factor that starts at 65,536 and moves
    while training goes on; `scaler.step` divides by it again. A limit of 1.0 on gradients in between is a limit of
    0.000015 on the real ones, which moves with the scale: almost every step is cut down to that norm. With SGD training
    all but stands still; with Adam, every batch counts the same, the one to learn from and the outlier. Nothing is
    raised.

    Call `scaler.unscale_(optimizer)` once before clipping: it divides the gradients of that optimizer in place, and
    `scaler.step` knows that it need not do so again.

    Reported is a clip that comes after `scaler.scale(loss).backward()` and before anything that unscales.
    Accelerate's and Lightning's own methods unscale by themselves; a scaler that is switched off scales nothing.
    """

    code = "LLM305"
    severity = Severity.ERROR
    triggers = ("clip_grad",)
    bad = [
        Bad(
            """\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- clips gradients that `scaler` has scaled
        scaler.step(optimizer)
        scaler.update()
""",
            fixed="""\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
""",
        ),
        # A class whose methods share the scaler; mixed precision is a setting.
        Bad(
            """\
import torch
from torch.nn.utils import clip_grad_value_

class Trainer:
    def __init__(self, model, optimizer, use_amp=True):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.cuda.amp.GradScaler(enabled=use_amp)

    def step(self, batch, last):
        loss = self.model(**batch).loss
        self.scaler.scale(loss).backward()
        if last:
            clip_grad_value_(self.model.parameters(), 0.5)  # <- gradients that `self.scaler` has scaled
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
""",
            fixed="""\
import torch
from torch.nn.utils import clip_grad_value_

class Trainer:
    def __init__(self, model, optimizer, use_amp=True):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.cuda.amp.GradScaler(enabled=use_amp)

    def step(self, batch, last):
        loss = self.model(**batch).loss
        self.scaler.scale(loss).backward()
        if last:
            self.scaler.unscale_(self.optimizer)
            clip_grad_value_(self.model.parameters(), 0.5)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
""",
        ),
        # Only one of two ways through the step scales.
        Bad(
            """\
import torch

def train(model, loader, optimizer, scaler, use_amp):
    for batch in loader:
        loss = model(**batch).loss
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)  # <- `scaler` has scaled
        if use_amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        optimizer.zero_grad()
        print(norm)
""",
            fixed="""\
import torch

def train(model, loader, optimizer, scaler, use_amp):
    for batch in loader:
        loss = model(**batch).loss
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if use_amp:
            scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        if use_amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        optimizer.zero_grad()
        print(norm)
""",
        ),
        # Cells of a notebook; two models, one optimizer: it is unscaled once.
        Bad(
            {
                "train.ipynb": [
                    "import torch\nfrom torch.amp import GradScaler\n\nscaler = GradScaler()",
                    (
                        "for batch in loader:\n    loss = decoder(encoder(batch)).mean()\n    scaler.scale(loss).backward()\n"
                        "    torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)  # <- `scaler` has scaled\n"
                        "    torch.nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)\n"
                        "    scaler.step(optimizer)\n    scaler.update()"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    "import torch\nfrom torch.amp import GradScaler\n\nscaler = GradScaler()",
                    (
                        "for batch in loader:\n    loss = decoder(encoder(batch)).mean()\n    scaler.scale(loss).backward()\n"
                        "    scaler.unscale_(optimizer)\n"
                        "    torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)\n"
                        "    torch.nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)\n"
                        "    scaler.step(optimizer)\n    scaler.update()"
                    ),
                ]
            },
        ),
        # A helper that other training shares is at fault here.
        Bad("""\
import torch

def clip(model):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

def train(model, loader, optimizer):
    for batch in loader:
        model(**batch).loss.backward()
        clip(model)
        optimizer.step()
        optimizer.zero_grad()

def train_in_half(model, loader, optimizer, scaler):
    for batch in loader:
        scaled = scaler.scale(model(**batch).loss)
        scaled.backward()
        clip(model)  # <- `scaler` has scaled
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # The methods of a class; then an `unscale_` that comes too late.
        Bad(
            """\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.GradScaler("cuda")

    def backward(self, loss):
        self.scaler.scale(loss / 4).backward()

    def step(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # <- `self.scaler` has scaled
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def fit(self, loader):
        for index, batch in enumerate(loader):
            self.backward(self.model(**batch).loss)
            if (index + 1) % 4 == 0:
                self.step()
""",
            fixed="""\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.GradScaler("cuda")

    def backward(self, loss):
        self.scaler.scale(loss / 4).backward()

    def step(self):
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def fit(self, loader):
        for index, batch in enumerate(loader):
            self.backward(self.model(**batch).loss)
            if (index + 1) % 4 == 0:
                self.step()
""",
        ),
        Bad("""\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(**batch).loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- `scaler` has scaled
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # A helper, called from a loop, clips and steps: which optimizer's gradients it has is not its to say.
        Bad("""\
import torch

def update(model, optimizers, scaler):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- `scaler` has scaled
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()

def train(model, loader, optimizers):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(**batch).loss).backward()
        update(model, optimizers, scaler)
"""),
    ]
    good = [
        Good("""\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""),
        # Nothing is scaled on the way that clips.
        Good("""\
import torch

def train(model, loader, optimizer, use_amp):
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(**batch).loss
        if not use_amp:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            continue
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""),
        Good("""\
import torch

class Trainer:
    def __init__(self, model, optimizer, amp):
        self.model, self.optimizer, self.amp = model, optimizer, amp
        self.scaler = torch.amp.GradScaler("cuda") if amp else None

    def backward(self, loss):
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()

    def clip(self):
        if self.scaler is not None:
            self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def step(self, batch):
        self.backward(self.model(**batch).loss)
        self.clip()
        if self.scaler is not None:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad()
"""),
        Good("""\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for batch in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # Only before the step of every second batch.
        Good("""\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for index, batch in enumerate(loader):
        loss = model(**batch).loss / 2
        scaler.scale(loss).backward()
        if (index + 1) % 2 == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
"""),
        # The program thought of the scale: it measures, or multiplies the limit, or divides the gradients.
        Good("""\
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(**batch).loss).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        print(norm.item() / scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()
        scaler.scale(model(**batch).loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0 * scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()
        scaler.scale(model(**batch).loss).backward()
        for parameter in model.parameters():
            parameter.grad.div_(scaler.get_scale())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""),
        # An accelerator unscales before it clips.
        Good("""\
from accelerate import Accelerator

def train(model, loader, optimizer):
    accelerator = Accelerator(mixed_precision="fp16")
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""),
        # A scaler of features, and one of the program's own that scales nothing.
        Good("""\
import torch

class NoScaler:
    def scale(self, loss):
        return loss

    def step(self, optimizer):
        optimizer.step()

def train(model, loader, optimizer, standard):
    scaler = NoScaler()
    for features, labels in loader:
        loss = torch.nn.functional.mse_loss(model(standard.scale(features)), labels)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        optimizer.zero_grad()
"""),
        # A function that nobody sees may unscale.
        Good("""\
import torch
from amp import unscale_gradients

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(**batch).loss).backward()
        unscale_gradients(scaler, optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # Who computed the gradients is not seen.
        Good("""\
import torch

def update(model, optimizer, scaler):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for clipping in facts.clippings():
            if clipping.gradients_are_scaled is not YES:
                continue
            call, unscaling = clipping.call, clipping.unscaling
            yield self.report(
                clipping.place,
                f"`{call.callee}` clips gradients that `{clipping.scaler}` has scaled",
                related=[(clipping.scale.place, "scaled here")],
                help=f"call `{clipping.scaler}.unscale_(optimizer)` before",
                fix=[InsertBefore(call.place.range, unscaling)] if unscaling is not None else (),
                fix_message="unscale the gradients first",
                safe=True,
            )
