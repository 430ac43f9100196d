"""LLM302 half-without-autocast."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Report, Rule, Severity


class HalfWithoutAutocast(Rule):
    """A model in float16 is trained without autocast or a loss scaler, or meets float32 inputs.

    Gradients below 6e-8 vanish in float16 and sums beyond 65,504 become infinite: the loss turns NaN, or training
    stands still, without a message. Inputs in float32 raise a dtype mismatch in the first layer that multiplies.
    Keep the weights in float32 and run the forward under `torch.autocast`, or load the model in bfloat16.
    """

    code = "LLM302"
    severity = Severity.ERROR
    triggers = ("half", "float16")
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").half().cuda()  # <- trained in float16
    model.train()
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
            severity=Severity.WARNING,
        ),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
    model.train()
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for call in facts.forwards():
            for half in call.states("dtype"):
                if half.value != "float16" or half.place is None or call.autocast is not NO:
                    continue
                if call.reaches_gradient is YES and call.gradients is YES and call.model_is_frozen is NO:
                    yield self.report(
                        half.place,
                        "a model in float16 is trained without autocast",
                        severity=Severity.WARNING,
                        related=[(call.place, "trained here")],
                        help="train float32 weights under `torch.autocast`, or load the model in bfloat16",
                    )
                elif call.float32_input is not None:
                    yield self.report(
                        half.place,
                        "a model in float16 meets inputs in float32",
                        related=[(call.place, "meets them here"), (call.float32_input, "float32")],
                        help="cast the inputs, or run the forward under `torch.autocast`",
                    )
