"""LLM303 half-on-cpu."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, Severity


class HalfOnCpu(Rule):
    """A model in float16 is run on the CPU, at least on some path.

    CPUs compute float16 slowly and with float16's narrow range; torch before 2.1 has no float16 kernels for most
    layers there and raises `"addmm_impl_cpu_" not implemented for 'Half'`. Halve only where the target is a GPU, or
    use bfloat16.
    """

    code = "LLM303"
    severity = Severity.ERROR
    triggers = ("half", "float16")
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("intfloat/e5-small-v2").half()  # <- float16 runs on the CPU
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]])).last_hidden_state.shape)
""",
            severity=Severity.INFORMATION,
        ),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModel

device = "cuda" if torch.cuda.is_available() else "cpu"
model = AutoModel.from_pretrained("intfloat/e5-small-v2").to(device)
if device == "cuda":
    model = model.half()
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]]).to(device)).last_hidden_state.shape)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        fails = facts.requires("torch", "<2.1") is YES
        for call in facts.runs_of_models():
            for half in call.states("dtype"):
                if half.value != "float16" or half.place is None or half.is_guarded_by("cuda", "device"):
                    continue
                on_cpu = [where for where in call.devices() if where.value == "cpu" and where.agrees_with(half)]
                if on_cpu:
                    yield self.report(
                        half.place,
                        "a model in float16 runs on the CPU" + (" of some machines" if on_cpu[0].conditions else ""),
                        severity=Severity.ERROR if fails else Severity.INFORMATION,
                        related=[(call.place, "runs here")],
                        help="halve only where the target is a GPU, or use `torch.bfloat16`",
                    )
