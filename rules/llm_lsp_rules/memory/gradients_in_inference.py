"""LLM301 gradients-in-inference."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import (
    NO,
    UNKNOWN,
    YES,
    Bad,
    Call,
    Change,
    Decorate,
    EnsureImport,
    Extent,
    Facts,
    Good,
    Report,
    Rule,
    Severity,
    Wrap,
)


class GradientsInInference(Rule):
    """A forward pass builds a graph for gradients that nobody computes.

    Outside `torch.no_grad()` every forward keeps all activations until its result goes away, so evaluation needs a
    multiple of the memory and the batches that fitted in training no longer fit; `model.eval()` does not change that,
    it only switches dropout and normalisation. Run evaluation, metrics, embedding and serving code under
    `torch.no_grad()`, or `torch.inference_mode()` where no result is used in training later.

    `generate` and `pipeline` switch gradients off themselves.
    """

    code = "LLM301"
    severity = Severity.WARNING
    triggers = ("eval()", "from_pretrained", "state_dict", ".train(", "backward(", "parameters(", "generate(", "requires_grad_")
    bad = [
        Bad(
            """\
import torch

def evaluate(model, loader):
    model.eval()
    hits = 0
    for batch in loader:
        logits = model(batch["input_ids"])  # <- nobody computes gradients
        hits += (logits.argmax(-1) == batch["labels"]).sum().item()
    return hits
""",
            fixed="""\
import torch

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = 0
    for batch in loader:
        logits = model(batch["input_ids"])
        hits += (logits.argmax(-1) == batch["labels"]).sum().item()
    return hits
""",
        ),
    ]
    good = [
        Good("""\
import torch

def evaluate(model, loader):
    model.eval()
    with torch.inference_mode():
        for batch in loader:
            print(model(batch["input_ids"]).argmax(-1))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for call, place in facts.where_all_chains_agree(facts.forwards(), _keeps_a_graph_for_nothing):
            yield self.report(
                place,
                "this forward keeps its graph although nobody computes gradients of the result",
                help="run it under `torch.no_grad()`",
                fix=_without_gradients(facts, facts.inference_around(call, place)),
            )


def _without_gradients(facts: Facts, extent: Extent) -> list[Change]:
    context = facts.spelled("torch.no_grad") + "()"
    wrap = Wrap(extent.range, extent.range, f"with {context}:")
    change = Decorate(extent.range, context) if extent.is_function else wrap
    return [change] if context != "torch.no_grad()" else [change, EnsureImport("torch")]


def _keeps_a_graph_for_nothing(call: Call) -> bool:
    if call.gradients is not YES or call.is_in_a_forward or call.is_in_a_test or call.model_is_frozen is not NO:
        return False
    reaches = call.reaches_gradient
    if reaches is UNKNOWN:
        return call.is_only_returned is YES and call.is_meant_for_inference is YES
    return reaches is NO and call.model_has_learned is YES
