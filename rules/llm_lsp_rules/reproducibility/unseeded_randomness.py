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
    Report,
    Rule,
    Severity,
)


class UnseededRandomness(Rule):
    """A program that trains or samples draws random numbers from a generator that nobody seeds.

    Two runs then differ in data order, initial weights and samples, so that a result can't be reproduced and a
    regression can't be told from luck. Python, NumPy and torch have a generator each: `transformers.set_seed(...)`
    seeds all three.
    """

    code = "LLM501"
    severity = Severity.WARNING
    triggers = ("rand", "shuffle", "permut", "choice", "sample", "normal", "bernoulli", "multinomial", "Linear", "Embedding", "Module", "from_config", "num_labels")
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
        ),
    ]
    good = [
        Good("""\
import torch

torch.manual_seed(0)
layer = torch.nn.Linear(4, 4)
layer(torch.randn(2, 4)).sum().backward()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for generator in facts.generators():
            if generator.is_seeded is NO and generator.matters is YES:
                yield self.report(
                    generator.first_draw,
                    f"{generator.name}'s generator is never seeded, so no two runs are alike",
                    help=f"call `{generator.seeding}` first",
                    fix=_seeded(generator),
                )


def _seeded(generator: Generator) -> list[Change]:
    if generator.entry is not None:
        return [EnsureImport(generator.module), InsertBefore(generator.entry.range, generator.seeding)]
    if generator.last_import is not None:
        return [EnsureImport(generator.module), InsertAfter(generator.last_import.range, generator.seeding)]
    return []
