"""What is known of losses and their gradients: summed, scaled, clipped, in float16; and what is admitted not to be known."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import NO, UNKNOWN, YES, Facts, Truth
from llm_lsp.source import Source


def facts_of(code: str) -> Facts:
    with ExampleWorld({}, {}, {}) as world:
        return Facts(Source.from_text("example.py", dedent(code)), world)


# ---------------------------------------------------------------- sums that keep graphs


def sums(round_: str, before: str = "total = 0.0", after: str = "") -> list[Truth]:
    """What is known of the sums of a training loop that ends each round by `round_`."""
    body = "\n".join(f"        {line}" for line in ["loss = model(**batch).loss", *round_.split("\n")])
    code = f"def train(model, loader, log):\n    model.train()\n    {before}\n    for batch in loader:\n{body}\n    {after}\n"
    return [each.keeps_graph for each in facts_of("import torch\n" + code).running_sums()]


@pytest.mark.parametrize(
    "round_",
    [
        "loss.backward()\ntotal += loss",
        "total = total + loss * 2\nloss.backward()",
        "loss.backward()\ntotal = 0.9 * total + 0.1 * loss",
        "(loss / 4).backward()\ntotal += loss.cpu()",
        "loss.backward()\nif loss > 1:\n    continue\ntotal -= loss",
    ],
)
def test_a_sum_of_losses_that_had_their_backward_keeps_graphs(round_: str) -> None:
    assert sums(round_) == [YES]


@pytest.mark.parametrize(
    "round_",
    [
        "loss.backward()\ntotal += loss.item()",
        "loss.backward()\ntotal += loss.detach()",
        "loss.backward()\nwith torch.no_grad():\n    total += loss",
        "loss.backward()\ntotal += loss\ntotal = total.detach()",
        "loss.backward()\ntotal = 0.0\ntotal += loss",
        "loss.backward()\ntotal += loss\nbreak",
        "loss.backward()\nother = total + loss",
    ],
)
def test_what_no_later_round_finds_is_no_running_sum(round_: str) -> None:
    assert sums(round_) == []


def test_a_sum_that_reaches_backward_is_meant_to_keep_graphs() -> None:
    assert sums("total += loss", after="total.backward()") == [NO]
    assert sums("total += loss\nif loss > 1:\n    total.backward()\n    total = 0.0") == [NO]


@pytest.mark.parametrize(
    ("round_", "before"),
    [
        ("total += loss", "total = 0.0"),
        ("logits, size = model(batch)\nlogits.mean().backward()\ntotal += size", "total = 0"),
        ("log(loss)\ntotal += loss", "total = 0.0"),
        ("loss.backward()\ntotal += log(loss)", "total = 0.0"),
    ],
)
def test_a_sum_of_what_may_have_no_graph_or_no_backward_is_unknown(round_: str, before: str) -> None:
    assert sums(round_, before) == [UNKNOWN]


def test_what_is_added_is_named_where_gradients_of_it_are_computed() -> None:
    facts = facts_of("""
        class Meter:
            def add(self, value):
                self.total = self.total + value

        def train(model, loader):
            meter = Meter()
            for batch in loader:
                loss = model(batch).mean()
                loss.backward()
                meter.add(loss)
    """)
    (found,) = facts.running_sums()
    assert found.term is not None
    assert (found.total, found.place.text, found.term.text) == ("self.total", "meter.add(loss)", "loss")


# ---------------------------------------------------------------- loss scalers


def clip(step: str, scaler: str = "torch.amp.GradScaler('cuda')") -> list[Truth]:
    """What is known of the gradients that are clipped in a loop with these steps."""
    body = "\n".join(f"        {line}" for line in step.split("\n"))
    code = (
        "import torch\nfrom torch.nn.utils import clip_grad_norm_\n"
        f"def train(model, loader, optimizer, amp, other):\n    scaler = {scaler}\n    for batch in loader:\n{body}\n"
    )
    return [each.gradients_are_scaled for each in facts_of(code).clippings()]


SCALED = "scaler.scale(model(batch)).backward()\n"
CLIP = "clip_grad_norm_(model.parameters(), 1.0)"


@pytest.mark.parametrize(
    "step",
    [
        SCALED + CLIP,
        "loss = scaler.scale(model(batch))\n(loss / 2).backward()\n" + CLIP,
        SCALED + "if amp:\n    " + CLIP,
        "if amp:\n    " + SCALED + "else:\n    model(batch).backward()\n" + CLIP,
        SCALED + "print(other.update(1))\n" + CLIP,
    ],
)
def test_gradients_of_a_scaled_loss_are_scaled_until_somebody_unscales(step: str) -> None:
    assert clip(step) == [YES]


@pytest.mark.parametrize(
    "step",
    [
        SCALED + "scaler.unscale_(optimizer)\n" + CLIP,
        SCALED + "scaler.step(optimizer)\n" + CLIP,
        SCALED + "optimizer.zero_grad()\n" + CLIP,
        SCALED + "other.clip_grad_norm_(model.parameters(), 1.0)",
        "model(batch).backward()\n" + CLIP,
        CLIP,
    ],
)
def test_gradients_are_not_scaled_where_nothing_scales_or_somebody_unscales(step: str) -> None:
    assert YES not in clip(step)


@pytest.mark.parametrize(
    "step",
    [
        SCALED + "if amp:\n    scaler.unscale_(optimizer)\n" + CLIP,
        SCALED + "other.step_with(scaler)\n" + CLIP,
        SCALED + "clip_grad_norm_(model.parameters(), other.scaled(1.0))",
        SCALED + "clip_grad_norm_(model.parameters(), float('inf'))",
    ],
)
def test_gradients_that_may_be_unscaled_are_unknown(step: str) -> None:
    assert clip(step) == [UNKNOWN]


def test_a_scaler_is_one_by_its_class_or_by_its_uses() -> None:
    step = SCALED + CLIP + "\nscaler.step(optimizer)"
    assert clip(step, "other") == [YES]
    assert clip(SCALED + CLIP, "other") == clip(step, "Unseen()") == []
    assert clip(step, "torch.amp.GradScaler(enabled=False)") == []


TRAINING = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
arguments = TrainingArguments("out", fp16=True)
model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
"""


def half(code: str) -> list[Truth]:
    return [each.is_trained for each in facts_of(TRAINING + code).half_trainings()]


def test_float16_weights_that_a_trainer_with_a_scaler_trains() -> None:
    assert half("Trainer(model, arguments).train()") == [YES]
    assert half("Trainer(model, TrainingArguments('out', fp16=torch.cuda.is_available())).train()") == [YES]
    assert half("Trainer(model=model.float(), args=arguments).train()") == []
    assert half("Trainer(model, TrainingArguments('out', bf16=True)).train()") == []


@pytest.mark.parametrize(
    "code",
    [
        "Trainer(model, arguments).evaluate()",
        "Trainer(get_peft_model(model, LoraConfig()), arguments).train()",
        "Trainer(model, arguments, **more).train()",
        "model.requires_grad_(False)\nTrainer(model, arguments).train()",
    ],
)
def test_float16_weights_that_may_be_frozen_or_only_read_are_unknown(code: str) -> None:
    assert half(code) == [UNKNOWN]
