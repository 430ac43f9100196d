"""`llm-lint facts`, for authors of rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PROGRAM = """\
import torch
from transformers import AutoModel

def encode(model, x):
    return model(x)

model = AutoModel.from_pretrained("gpt2", dtype=torch.float16).to("cuda")
with torch.no_grad():
    encode(model, 1)
encode(model, 2).loss.backward()
"""


pytestmark = pytest.mark.usefixtures("program")


@pytest.fixture
def program(demo_project: Path) -> None:
    (demo_project / "program.py").write_text(PROGRAM, encoding="utf-8")


def test_each_chain_of_calls_has_its_own_context_and_fate(run: Run) -> None:
    said = run("facts", "program.py:5")
    assert said.code == 0
    assert said.out.count("an object, in encode") == 2
    known = {tuple(line.split(maxsplit=1)) for line in said.out.splitlines()}
    assert {("gradients", "no"), ("gradients", "yes"), ("reaches", "gradient       yes")} <= known
    assert {("loaded", "as              `gpt2`"), ("dtype", "float16"), ("device", "cuda")} <= known
    assert ("of", "transformers.AutoModel of line 7") in known


def test_what_is_passed_is_shown(run: Run) -> None:
    assert "passed                 'gpt2', dtype=torch.float16" in run("facts", "program.py:7").out


def test_what_the_words_of_rules_say_is_shown(run: Run) -> None:
    assert "program.py:7 type is taken          " in run("facts", "program.py:7").out


def test_a_line_without_a_call_says_so(run: Run) -> None:
    assert run("facts", "program.py:3").out == "no call is seen there\n"


@pytest.mark.parametrize(("place", "message"), [("nothing.py", "is not a file"), ("program.py:99", "no line 99")])
def test_a_place_that_is_not_there_is_named(run: Run, place: str, message: str) -> None:
    said = run("facts", place)
    assert said.code == 2
    assert message in said.err
