"""torch's compiler is put off: nothing of the probe loads it, and a program that uses it finds the real one."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")

BEGIN = """\
import sys, warnings
warnings.simplefilter("ignore")
from llm_lsp.probe.worker import environment, libraries
environment.prepare(cuda=False)
libraries.load(forks=False)
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

def is_loaded():
    return "torch._dynamo.eval_frame" in sys.modules

def run_abstractly():
    for mode in (FakeTensorMode(allow_non_fake_inputs=True), torch.device("meta")):
        with mode:
            layer = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.GELU())
            assert layer(torch.zeros(2, 4)).shape == (2, 6)
            torch.tensor([1.0, 2.0]) + torch.ones(2)
"""


def runs(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_abstract_runs_and_models_of_transformers_do_not_load_it() -> None:
    runs(
        """\
        run_abstractly()
        assert not is_loaded()
        from transformers import LlamaConfig, LlamaForCausalLM
        sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4, vocab_size=99)
        with FakeTensorMode(allow_non_fake_inputs=True):
            model = LlamaForCausalLM(LlamaConfig(**sizes))
            assert model(torch.zeros(2, 5, dtype=torch.long)).logits.shape == (2, 5, 99)
        assert not is_loaded()
        """
    )


@pytest.mark.parametrize(
    "program",
    [
        "from torch._dynamo.eval_frame import OptimizedModule\nassert OptimizedModule is torch._dynamo.OptimizedModule",
        "import torch._dynamo.testing\nassert torch._dynamo.testing is sys.modules['torch._dynamo.testing']",
        "from torch._dynamo.source import AttrSource\nassert torch._dynamo.source.AttrSource is AttrSource",
        "assert torch.compile(nn.Linear(4, 6))(torch.zeros(2, 4)).shape == (2, 6)",
        "model = torch._dynamo.disable(nn.Linear(4, 6))\nassert model(torch.zeros(2, 4)).shape == (2, 6)",
    ],
)
def test_who_uses_it_finds_it(program: str) -> None:
    runs(
        f"""\
        run_abstractly()
        exec({program!r})
        assert is_loaded()
        run_abstractly()
        for name, module in list(sys.modules.items()):
            if name.startswith("torch._dynamo"):
                for each in vars(module).values():
                    if isinstance(each, type(sys)) and each.__name__.startswith("torch._dynamo"):
                        assert each is sys.modules[each.__name__], f"{{each.__name__}} is there twice"
                assert module.__spec__.name == name
        """
    )


def test_what_a_program_sets_stays_set_when_it_is_loaded() -> None:
    runs(
        """\
        torch._dynamo.config.suppress_errors = True
        assert not is_loaded()
        torch._dynamo.reset()
        assert is_loaded()
        assert torch._dynamo.config.suppress_errors
        assert sys.modules["torch._dynamo.config"] is torch._dynamo.config
        """
    )


def test_training_does_not_load_it() -> None:
    runs(
        """\
        layer = nn.Linear(4, 6)
        for make in (torch.optim.SGD, torch.optim.AdamW):
            optimizer = make(layer.parameters(), 0.1)
            layer(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        assert not is_loaded()
        """
    )


def test_functions_that_are_not_to_be_compiled_stay_what_they_are() -> None:
    runs(
        """\
        def double(x):
            return 2 * x
        assert torch._dynamo.disable(double) is double
        assert torch.compiler.disable(recursive=False)(double) is double
        assert torch.compiler.disable(double, reason="slow") is double
        assert not is_loaded()
        """
    )
