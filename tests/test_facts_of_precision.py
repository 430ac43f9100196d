"""In which precision, and where, a program's models compute."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import YES, Call, Facts
from llm_lsp.source import Source

START = """\
import torch
from transformers import AutoModel
"""


def facts_of(code: str) -> Facts:
    source = Source.from_text("example.py", START + dedent(code))
    with ExampleWorld({}, {}, {}) as world:
        facts = Facts(source, world)
        assert facts.records
    return facts


def last_forward(code: str) -> Call:
    return list(facts_of(code).forwards())[-1]


def dtypes(call: Call) -> list[object]:
    return [choice.value for choice in call.states("dtype")]


def devices(call: Call) -> list[str]:
    return [str(choice.value) for choice in call.devices()]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ('state["model"] = AutoModel.from_pretrained("gpt2").half()', 'state["model"]'),
        ('state.update(model=AutoModel.from_pretrained("gpt2").half())', 'state["model"]'),
        ('state.update({"model": AutoModel.from_pretrained("gpt2").half()})', 'state["model"]'),
        ('global model\n    model = AutoModel.from_pretrained("gpt2").half()', "model"),
    ],
)
def test_a_model_that_a_function_leaves_in_a_global_is_found_as_it_was_left(keep: str, kept: str) -> None:
    call = last_forward(f"state = {{}}\nmodel = None\ndef load():\n    {keep}\ndef serve(x):\n    return {kept}(x)\n")
    assert dtypes(call) == ["float16"]


def test_a_model_that_is_there_before_a_function_switches_it_is_not_found_switched() -> None:
    call = last_forward(
        "model = AutoModel.from_config(c)\ndef a():\n    model.half()\ndef b(x):\n    return model(x)\n"
    )
    assert dtypes(call) == ["float32"]


def test_modules_are_made_in_the_default_type() -> None:
    code = "torch.set_default_dtype(torch.float16)\nnet = torch.nn.Linear(2, 2)\nnet(torch.randn(1, 2))"
    call = last_forward(code)
    assert dtypes(call) == ["float16"]
    # The input is made in it, too.
    assert call.float32_input is None


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ('{"": "cpu"}', ["cpu"]),
        ('"cpu"', ["cpu"]),
        ('{"wte": "cpu", "h": 0}', []),
        ('"auto"', ["auto"]),
        ("None", ["cpu"]),
    ],
)
def test_a_map_of_one_device_is_that_device(given: str, known: list[str]) -> None:
    assert devices(last_forward(f'AutoModel.from_pretrained("gpt2", device_map={given})(1)')) == known


TRAINED = """
model = AutoModel.from_pretrained("gpt2", dtype=torch.float16)
{cast}
optimizer = torch.optim.AdamW(model.parameters())
model(1).loss.backward()
"""


def test_parameters_are_optimized_as_they_are() -> None:
    call = last_forward(TRAINED.format(cast=""))
    assert (dtypes(call), call.model_is_optimized) == (["float16"], YES)


def test_parameters_whose_data_is_replaced_are_others() -> None:
    cast = "for parameter in model.parameters():\n    parameter.data = parameter.data.float()"
    assert dtypes(last_forward(TRAINED.format(cast=cast))) == []


HALVED = """
def run(half, device="cpu"):
    model = AutoModel.from_pretrained("gpt2", dtype=torch.float32)
    {assign}
    if wanted:
        model.half()
    return model(1)
"""


@pytest.mark.parametrize(
    ("assign", "is_about_devices"),
    [
        ('wanted = half and device != "cpu"', True),
        ("wanted = torch.cuda.is_available()", True),
        ("able = torch.cuda.is_available()\n    wanted = half and able", True),
        ("wanted = half", False),
        ("wanted = half and not exact", False),
    ],
)
def test_a_test_is_about_what_its_name_was_assigned(assign: str, is_about_devices: bool) -> None:
    choices = last_forward(HALVED.format(assign=assign)).states("dtype")
    halves = [choice for choice in choices if choice.value == "float16"]
    assert [half.is_guarded_by("cuda", "device") for half in halves] == [is_about_devices]


def test_a_type_that_another_module_asks_for_is_placed_where_this_one_calls_it() -> None:
    files = {
        "loading.py": START + 'def load():\n    return AutoModel.from_pretrained("gpt2", dtype=torch.float16)\n',
        "serve.py": "from loading import load\nmodel = load()\nmodel(1)\n",
    }
    with ExampleWorld(files, {}, {}) as world:
        facts = Facts(world.sources["serve.py"], world)
        places = [half.place for call in facts.forwards() for half in call.states("dtype")]
    assert [place.text for place in places if place is not None] == ["load()"]
