"""Mutants of what is passed, moved, kept or left in: tokens, old arguments, inputs, tensors, debuggers."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.mutation import containers, credentials, debuggers, devices, migrations
from tests.made_mutants import made, texts

MOVED = """\
from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased").to("cuda")
inputs = tokenizer("a text", return_tensors="pt").to("cuda")
print(model(**inputs).last_hidden_state)
"""
STAYING = MOVED.replace('.to("cuda")', "")


def test_inputs_are_no_longer_moved_to_their_model() -> None:
    assert 'tokenizer("a text", return_tensors="pt")\n' in texts(devices.mutants, MOVED)["inputs"]
    by_name = MOVED.replace('d").to("cuda")\ni', 'd")\nmodel.cuda()\ni')
    assert list(texts(devices.mutants, by_name)) == ["inputs"]
    typed = MOVED.replace('"pt").to("cuda")', '"pt").to("cuda", torch.float16)')
    assert not made(devices.mutants, typed), "two things would be taken away"


def test_a_model_is_moved_away_from_its_inputs() -> None:
    assert '"bert-base-uncased").to("cuda")\ninputs' in texts(devices.mutants, STAYING)["model"]
    extended = STAYING.replace("print", 'inputs["labels"] = labels\nprint')
    assert not made(devices.mutants, extended)
    elsewhere = STAYING.replace("model(**inputs)", "model(**others)")
    assert not made(devices.mutants, elsewhere)


@pytest.mark.parametrize(
    "text",
    [
        MOVED.replace('"cuda"', "place"),
        MOVED.replace('d").to("cuda")\ni', 'd", device_map="auto")\ni'),
        STAYING.replace('d")\ni', 'd", device_map="auto")\ni'),
        MOVED.replace('d").to("cuda")\ni', 'd")\ni'),
    ],
)
def test_nothing_is_moved_where_nobody_knows_the_device_or_a_library_moves_the_inputs(text: str) -> None:
    assert not made(devices.mutants, text)


TRAINING = """\
import torch

def fit(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().item())
"""


def test_a_list_keeps_losses_with_their_graphs() -> None:
    found = texts(containers.mutants_with_kept_tensors, TRAINING)
    assert "losses.append(loss)\n" in found["append"]
    assert "model.parameters()); history = []\n" in found["loop"]
    assert "optimizer.step(); history.append(loss)\n" in found["loop"]


def test_a_list_keeps_nothing_over_a_few_rounds_or_of_what_has_no_gradients() -> None:
    assert not made(containers.mutants_with_kept_tensors, TRAINING.replace("in loader:", "in range(20):"))
    without = TRAINING.replace("loss.backward()", "print(loss)")
    assert not made(containers.mutants_with_kept_tensors, without)
    other = TRAINING.replace("(loss.detach().item())", "(score.item())")
    assert list(texts(containers.mutants_with_kept_tensors, other)) == ["loop"]


def test_a_tensor_becomes_a_key() -> None:
    keys = "for token in ids:\n    counts[token.item()] += 1\n    rows[token.tolist()] = 1\n    print(names[token.item()])\n"
    first, second = made(containers.mutants_with_tensor_keys, keys)
    assert "counts[token] += 1\n" in first.text
    assert "rows[token] = 1\n" in second.text
    model = 'model = AutoModelForCausalLM.from_pretrained("gpt2")\n'
    answers = model + "out = model.generate(**inputs)\nbest = model(**inputs).logits[0].argmax(-1).item()\n"
    found = texts(containers.mutants_with_tensor_keys, answers)
    assert "out = model.generate(**inputs); seen = set(); seen.add(out[0])\n" in found["generated"]
    assert "best = model(**inputs).logits[0].argmax(-1); counts = {}; counts[best] = 1\n" in found["best"]
    assert not made(containers.mutants_with_tensor_keys, answers.replace(model, "")), "it may give anything"
    no_index = model + "hits = (model(**inputs).logits.argmax(-1) == ids).sum().item()\n"
    assert not made(containers.mutants_with_tensor_keys, no_index)


def test_a_token_is_written_in_the_code() -> None:
    text = 'import os\nlogin(token=None)\nmodel = load(name, token=os.environ["HF_TOKEN"])\nclient = OpenAI(api_key=KEY_OF_TOKEN)\n'
    found = made(credentials.mutants, text)
    assert [(mutant.kind, mutant.changed[0]) for mutant in found] == [
        ("keyword", 2),
        ("keyword", 3),
        ("keyword", 4),
        ("environment", 3),
    ]
    assert 'login(token="hf' + "_" in found[0].text
    assert 'OpenAI(api_key="sk' + "-" in found[2].text
    assert not made(
        credentials.mutants, 'count(token="the", home=os.environ["HOME"])\nos.environ["HF_TOKEN"] = given\n'
    )


def test_the_tokens_of_mutants_stand_in_no_source() -> None:
    source = Path(credentials.__file__ or "").read_text(encoding="utf-8")
    tokens = [mutant.text.split('"')[1] for mutant in made(credentials.mutants, "login(token=None, api_key=None)\n")]
    assert [token in source for token in tokens] == [False, False]


def test_an_argument_that_is_gone_comes_back() -> None:
    text = 'args = TrainingArguments("out", optim="adafactor")\nmodel = AutoModel.from_pretrained(name, attn_implementation="sdpa")\n'
    found = [(mutant.kind, mutant.text) for mutant in made(migrations.mutants_with_gone_arguments, text)]
    assert ("instead", text.replace('optim="adafactor"', "adafactor=True")) in found
    assert ("added", text.replace('"adafactor")', '"adafactor", overwrite_output_dir=True)')) in found
    assert ("instead", text.replace('attn_implementation="sdpa"', "use_flash_attention_2=True")) in found
    assert len(found) == 3


def test_an_argument_goes_by_its_old_name() -> None:
    text = 'args = SFTConfig("out", eval_strategy="epoch", max_length=9)\nTrainer(model, args, processing_class=tokenizer)\n'
    found = [mutant.text for mutant in made(migrations.mutants_with_old_names, text)]
    changes = [("eval_s", "evaluation_s"), ("max_l", "max_seq_l"), ("processing_class=", "tokenizer=")]
    assert sorted(found) == sorted(text.replace(*change) for change in changes)


def test_classes_of_the_program_keep_their_arguments() -> None:
    for definition in ("class TrainingArguments: ...\n", "from .arguments import TrainingArguments\n"):
        text = definition + 'args = TrainingArguments("out", eval_strategy="epoch")\n'
        assert not made(migrations.mutants_with_old_names, text)
        assert not made(migrations.mutants_with_gone_arguments, text)


STEPS = """\
import torch

# The whole program.
def step(model, batch):
    if args.debug:
        # Look at it.
        print(batch)
    # One loss for each batch.
    loss = model(**batch).loss
    print(loss)
    return loss

print("done")
"""


def test_a_debugger_is_left_in() -> None:
    found = texts(debuggers.mutants, STEPS)
    assert found["comment"] == STEPS.replace("# One loss for each batch.", "breakpoint()")
    assert found["print"] == STEPS.replace("print(loss)", "import pdb; pdb.set_trace()")
    assert not made(debuggers.mutants, STEPS.replace("import torch", "import json"))
    assert not made(debuggers.mutants, STEPS.replace("def step", "def debug_step"))
