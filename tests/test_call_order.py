"""Functions that call each other: each runs from its callers, and by itself only where nobody is seen to call it."""

from __future__ import annotations

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import Facts
from llm_lsp.source import Source


def run_in_vain(text: str) -> list[str]:
    """The functions that ran as if nobody called them, and then from a caller."""
    with ExampleWorld({}, {}, {}) as world:
        facts = Facts(Source.from_text("example.py", text), world)
        assert facts.records is not None
        frames = {frame.id: frame for frame in facts.machine.frames}
        return [frame.function.name for id in facts.machine.superseded if (frame := frames[id]).function is not None]


@pytest.mark.parametrize(
    "text",
    [
        "def step(x):\n    return x\n\ndef fit(x):\n    return step(x)\n",
        "def a(x):\n    return x\n\ndef b(x):\n    return a(x)\n\ndef c(x):\n    return b(x)\n",
        "class T:\n    def step(self, x):\n        return x\n    def fit(self, x):\n        return self.step(x)\n",
        "class B:\n    def step(self, x):\n        return x\nclass T(B):\n    def fit(self, x):\n        return self.step(x)\n",
        "class T:\n    def a(self, x):\n        return b(x)\n    def run(self, x):\n        return self.a(x)\n\ndef b(x):\n    return x\n",
        "def a(n):\n    return b(n)\n\ndef b(n):\n    return a(n)\n\ndef main(n):\n    return a(n)\n",
    ],
)
def test_what_a_caller_enters_does_not_run_before_it(text: str) -> None:
    assert run_in_vain(text) == []


def test_what_prepares_comes_first_although_others_call_it() -> None:
    text = (
        "import torch\nfrom transformers import AutoModel\n\ndef score(x):\n    return model(x)\n\n"
        'def load():\n    global model\n    model = AutoModel.from_pretrained("gpt2")\n\ndef main():\n    load()\n'
    )
    with ExampleWorld({}, {}, {}) as world:
        facts = Facts(Source.from_text("example.py", text), world)
        assert [call.function_names for call in facts.forwards()] == [["score"]]
    assert run_in_vain(text) == ["load"]
