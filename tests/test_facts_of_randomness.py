"""Which generators of random numbers a program draws from, and whether it seeds them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import Facts
from llm_lsp.source import Source

START = """\
import random
import numpy as np
import torch
from datasets import load_dataset
from transformers import AutoModel, Trainer
rows = load_dataset("imdb", split="train")
"""


def drawn(code: str) -> list[str]:
    """The lines of the first draws."""
    source = Source.from_text("example.py", START + dedent(code))
    with ExampleWorld({}, {}, {}) as world:
        facts = Facts(source, world)
        lines = source.text.split("\n")
        return [lines[generator.first_draw.range.start.row - 1].strip() for generator in facts.generators()]


TRAINER = 'Trainer(AutoModel.from_pretrained("gpt2"), train_dataset=chosen)'


@pytest.mark.parametrize(
    "choose",
    [
        "chosen = rows.select(random.sample(range(9), 3))",
        "chosen = rows.select(np.random.permutation(9)[:3])",
        "chosen = [rows[int(np.random.randint(9))] for _ in range(3)]",
    ],
)
def test_what_chose_a_trainers_data_was_drawn_before_the_trainer_seeds(choose: str) -> None:
    assert drawn(f"{choose}\n{TRAINER}") == [choose]


@pytest.mark.parametrize(
    "beside",
    [
        "chosen = rows\nprint(rows[random.randint(0, 9)])",
        "chosen = rows.shuffle()",
        "chosen = rows\nweights = torch.nn.Linear(2, 2)",
    ],
)
def test_other_draws_before_a_trainer_are_its_own_affair(beside: str) -> None:
    assert drawn(f"{beside}\n{TRAINER}") == []


def test_what_a_trainer_collates_is_drawn_after_it_seeds() -> None:
    collate = "def collate(items):\n    return random.sample(items, 2)"
    assert (
        drawn(f'{collate}\nTrainer(AutoModel.from_pretrained("gpt2"), train_dataset=rows, data_collator=collate)') == []
    )


PART = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {part}
net = Net()
net(1).backward()
"""


def test_a_module_of_pretrained_parts_draws_nothing() -> None:
    assert drawn(PART.format(part='AutoModel.from_pretrained("gpt2")')) == []


@pytest.mark.parametrize("part", ["torch.nn.Linear(2, 2)", "elsewhere.Head(2)"])
def test_a_module_with_fresh_or_unseen_parts_may_draw_them(part: str) -> None:
    assert drawn("import elsewhere\n" + PART.format(part=part)) == ["net = Net()"]
