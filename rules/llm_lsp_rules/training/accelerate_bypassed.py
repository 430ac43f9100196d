"""LLM415 accelerate-bypassed."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import UNKNOWN, YES, Bad, Bypass, Change, Facts, Good, Replace, Report, Rule, Severity


class AccelerateBypassed(Rule):
    """Gradients are computed or clipped past the `Accelerator` that prepared the model, and what it was told is left out.

    `accelerator.backward(loss)` divides the loss by `gradient_accumulation_steps`, multiplies it by the loss scale of
    float16, and hands it to DeepSpeed or Megatron where these run. `loss.backward()` does none of it: the gradients of
    several batches are summed where their mean is meant, small gradients become zero in float16, DeepSpeed never sends
    the gradients of one process to the others. Which of these it is depends on how the script is launched, and nothing is
    raised. `accelerator.clip_grad_norm_` takes the loss scale out first; torch's own clips gradients that are still
    65,536 times too large, so that every step has the same tiny length.

    Call the accelerator's methods.

    Reported are losses that a model gave which an `Accelerator` of the program has prepared; clipping only where the
    program sets `mixed_precision="fp16"` and unscales nothing by itself. Silent where a test of the program decides
    between the accelerator and plain torch, where it scales the loss with a scaler of its own, and where the model of the
    loss was never prepared: Fabric and DeepSpeed engines are none of this.
    """

    code = "LLM415"
    severity = Severity.ERROR
    triggers = ("Accelerator",)
    bad = [
        Bad(
            """\
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            loss.backward()  # <- `loss.backward()` goes past `accelerator`, which divides the loss by `gradient_accumulation_steps`
            optimizer.step()
            optimizer.zero_grad()
""",
            fixed="""\
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        # A class whose methods share the accelerator, in float16; torch's own clipping beside `accelerator.backward`.
        Bad(
            """\
import torch
from accelerate import Accelerator
from torch import nn

class Runner:
    def __init__(self, net, loader):
        self.accelerator = Accelerator(mixed_precision="fp16")
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
        self.net, self.optimizer, self.loader = self.accelerator.prepare(net, optimizer, loader)
        self.criterion = nn.CrossEntropyLoss()

    def epoch(self):
        self.net.train()
        for x, y in self.loader:
            loss = self.criterion(self.net(x), y)
            loss.backward(retain_graph=False)  # <- which scales the loss for float16
            self.optimizer.step()
            self.optimizer.zero_grad()

    def epoch_with_clipping(self):
        self.net.train()
        for x, y in self.loader:
            self.accelerator.backward(self.criterion(self.net(x), y))
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)  # <- clips gradients that `self.accelerator` has scaled for float16
            self.optimizer.step()
            self.optimizer.zero_grad()
""",
            fixed="""\
import torch
from accelerate import Accelerator
from torch import nn

class Runner:
    def __init__(self, net, loader):
        self.accelerator = Accelerator(mixed_precision="fp16")
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
        self.net, self.optimizer, self.loader = self.accelerator.prepare(net, optimizer, loader)
        self.criterion = nn.CrossEntropyLoss()

    def epoch(self):
        self.net.train()
        for x, y in self.loader:
            loss = self.criterion(self.net(x), y)
            self.accelerator.backward(loss, retain_graph=False)
            self.optimizer.step()
            self.optimizer.zero_grad()

    def epoch_with_clipping(self):
        self.net.train()
        for x, y in self.loader:
            self.accelerator.backward(self.criterion(self.net(x), y))
            self.accelerator.clip_grad_norm_(self.net.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
""",
        ),
        # Whoever launches it decides; a helper takes the step.
        Bad(
            """\
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

def step(model, batch, optimizer):
    loss = model(**batch).loss
    loss.backward()  # <- which knows how the script is launched
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()

def main(loader, make_optimizer):
    accelerator = Accelerator()
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    optimizer = make_optimizer(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        print(step(model, batch, optimizer))
""",
            severity=Severity.WARNING,
        ),
        # A class that is in no table of ours.
        Bad(
            """\
import torch
from accelerate import Accelerator
from accelerate.test_utils import RegressionModel

def train(loader):
    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = RegressionModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader, model, optimizer = accelerator.prepare(loader, model, optimizer)
    for batch in loader:
        loss = torch.nn.functional.mse_loss(model(batch["x"]), batch["y"])
        loss.backward()  # <- goes past `accelerator`
        optimizer.step()
        optimizer.zero_grad()
""",
            fixed="""\
import torch
from accelerate import Accelerator
from accelerate.test_utils import RegressionModel

def train(loader):
    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = RegressionModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader, model, optimizer = accelerator.prepare(loader, model, optimizer)
    for batch in loader:
        loss = torch.nn.functional.mse_loss(model(batch["x"]), batch["y"])
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
        # Cells of a notebook.
        Bad(
            {
                "tune.ipynb": [
                    (
                        "from accelerate import Accelerator\n"
                        "from transformers import AutoModelForSequenceClassification\n"
                        "import torch"
                    ),
                    (
                        "accelerator = Accelerator(gradient_accumulation_steps=8)\n"
                        'model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)\n"
                        "model, optimizer, loader = accelerator.prepare(model, optimizer, loader)"
                    ),
                    (
                        "model.train()\n"
                        "for batch in loader:\n"
                        "    with accelerator.accumulate(model):\n"
                        "        model(**batch).loss.backward()  # <- goes past `accelerator`\n"
                        "        optimizer.step()\n"
                        "        optimizer.zero_grad()"
                    ),
                ]
            },
            fixed={
                "tune.ipynb": [
                    (
                        "from accelerate import Accelerator\n"
                        "from transformers import AutoModelForSequenceClassification\n"
                        "import torch"
                    ),
                    (
                        "accelerator = Accelerator(gradient_accumulation_steps=8)\n"
                        'model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)\n"
                        "model, optimizer, loader = accelerator.prepare(model, optimizer, loader)"
                    ),
                    (
                        "model.train()\n"
                        "for batch in loader:\n"
                        "    with accelerator.accumulate(model):\n"
                        "        accelerator.backward(model(**batch).loss)\n"
                        "        optimizer.step()\n"
                        "        optimizer.zero_grad()"
                    ),
                ]
            },
        ),
    ]
    good = [
        # As it is meant, clipping included.
        Good("""\
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch).loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
"""),
        # The program decides whether there is an accelerator.
        Good("""\
from accelerate import Accelerator

def train(model, optimizer, loader, use_accelerate):
    accelerator = Accelerator() if use_accelerate else None
    if accelerator is not None:
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        if accelerator is not None:
            accelerator.backward(loss)
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # The accelerator only chooses the device and says who writes; the model is torch's.
        Good("""\
import torch
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator()
    model = model.to(accelerator.device)
    loader = accelerator.prepare(loader)
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.print("done")
"""),
        # A second model that was never prepared; gradients for the input of one that was, by `autograd.grad`.
        Good("""\
import torch
from accelerate import Accelerator

def train(model, probe, optimizer, other, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    probe.train()
    for x, y in loader:
        accelerator.backward(model(x, labels=y).loss)
        optimizer.step()
        optimizer.zero_grad()
        probe(x, y).backward()
        other.step()
        other.zero_grad()
        x.requires_grad_(True)
        print(torch.autograd.grad(model(x, labels=y).loss, x)[0].norm().item())
"""),
        # Models that one line makes, of which one is prepared; two of a class that is in no table.
        Good("""\
import torch
from accelerate import Accelerator
from accelerate.test_utils import RegressionModel

def train(loader, optimizer):
    accelerator = Accelerator()
    main, other = [torch.nn.Linear(16, 16) for _ in range(2)]
    first, second = [RegressionModel() for _ in range(2)]
    third, fourth = RegressionModel(), RegressionModel()
    main, first, third, loader = accelerator.prepare(main, first, third, loader)
    for x, y in loader:
        torch.nn.functional.mse_loss(other(x), y).backward()
        torch.nn.functional.mse_loss(second(x), y).backward()
        torch.nn.functional.mse_loss(fourth(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # A scaler of its own; gradients that are unscaled by hand before torch clips them.
        Good("""\
import torch
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        accelerator.unscale_gradients()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""),
        # Clipping by torch where no loss is scaled.
        Good("""\
import torch
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="bf16")
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""),
        # Another library's engine, and a class of the program that is called the same.
        Good("""\
class Accelerator:
    def prepare(self, *things):
        return things

def train(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        faults = {bypass.call.record.id: bypass for bypass in facts.accelerator_bypasses() if is_a_fault(bypass)}
        calls = [bypass.call for bypass in faults.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda one: one.record.id in faults):
            bypass = faults[call.record.id]
            name = f"`{bypass.accelerator}`" if bypass.accelerator is not None else "the accelerator"
            is_seen = bypass.is_clipping or bypass.accumulates is YES or bypass.scales_for_float16 is YES
            yield self.report(
                place,
                f"clips gradients that {name} has scaled for float16"
                if bypass.is_clipping
                else f"`{call.callee}()` goes past {name}, which {what_is_left_out(bypass)}",
                severity=None if is_seen else Severity.WARNING,
                related=[(bypass.prepare_place, "prepares the model")],
                help="call the accelerator's own method",
                fix=by_accelerator(bypass) if place == call.place else (),
            )


def is_a_fault(bypass: Bypass) -> bool:
    is_harmless = bypass.is_clipping and bypass.scales_for_float16 is UNKNOWN
    return bypass.is_left_out is YES and not is_harmless


def what_is_left_out(bypass: Bypass) -> str:
    if bypass.accumulates is YES:
        return "divides the loss by `gradient_accumulation_steps`"
    if bypass.scales_for_float16 is YES:
        return "scales the loss for float16"
    return "knows how the script is launched: in float16, in several processes, with DeepSpeed"


def by_accelerator(bypass: Bypass) -> list[Change]:
    accelerator, loss, called = bypass.accelerator, bypass.loss, bypass.function_place
    if accelerator is None:
        return []
    if bypass.is_clipping:
        return [Replace(called.range, f"{accelerator}.{called.text.rpartition('.')[2]}")]
    if loss is None:
        return []
    place = bypass.call.place
    others = place.text.removeprefix(called.text).strip()[1:-1]
    given = f"{loss.text}, {others}" if others else loss.text
    return [Replace(place.range, f"{accelerator}.backward({given})")]
