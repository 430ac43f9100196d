"""Mutants change the one thing that they mean to change, and the rules find them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import mutants
from scripts.corpus import docstring_programs
from scripts.linting import Linter
from scripts.mutation import (
    arrays,
    assembly,
    batches,
    checkpoints,
    classes,
    coroutines,
    defaults,
    generation,
    gradients,
    inputs,
    lengths,
    modes,
    padding,
    precision,
    seeds,
    shifts,
    training,
)
from tests.made_mutants import made, texts

EVALUATION = '''\
import torch

@torch.no_grad()
def evaluate(model, loader):
    return [model(batch) for batch in loader]

def embed(model, batch):
    with torch.no_grad(), torch.autocast("cuda"):
        return model(batch)

def describe(model, batch):
    with torch.inference_mode():  # keeps no graph
        text = """rows
  inside a string
"""
        print(text, model(batch))

def answer(model, ids):
    with torch.no_grad():
        return model.generate(ids)

class Net(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return self.encoder(x)
'''


def test_a_protection_is_taken_away_from_each_function_that_runs_a_model() -> None:
    found = made(gradients.mutants, EVALUATION)
    assert sorted((mutant.kind, mutant.changed) for mutant in found) == [
        ("block", (8, 9)),
        ("block", (12, 16)),
        ("decorator", (3, 5)),
    ]


def test_a_block_that_loses_its_header_is_dedented_and_its_strings_are_not() -> None:
    (mutant,) = (mutant for mutant in made(gradients.mutants, EVALUATION) if mutant.changed == (12, 16))
    assert "  inside a string\n" in mutant.text
    assert '    text = """rows' in mutant.text
    assert "    print(text, model(batch))" in mutant.text


def test_the_other_contexts_of_a_block_stay() -> None:
    (mutant,) = (mutant for mutant in made(gradients.mutants, EVALUATION) if mutant.changed == (8, 9))
    assert '    with torch.autocast("cuda"):\n        return model(batch)' in mutant.text


def test_no_mutant_where_another_protection_is_around() -> None:
    nested = "def f(model, x):\n    with torch.no_grad():\n        with torch.inference_mode():\n            model(x)\n"
    assert [mutant.changed for mutant in made(gradients.mutants, nested)] == [(2, 4)]


PAIR = """\
from transformers import AutoModel, AutoTokenizer
NAME = "roberta-base"
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModel.from_pretrained("roberta-base")
mystery = AutoModel.from_pretrained("me/my-own")
"""


def test_an_id_becomes_one_of_another_family() -> None:
    found = made(checkpoints.mutants, PAIR)
    assert [(mutant.kind, mutant.changed) for mutant in found] == [("tokenizer", (3, 3)), ("model", (4, 4))]
    assert 'AutoTokenizer.from_pretrained("bert-base-cased")' in found[0].text


def test_an_id_that_nobody_knows_makes_no_mutant() -> None:
    assert not made(checkpoints.mutants, PAIR.replace("roberta-base", "me/my-own"))


CUT = """\
def encode(tokenizer, text, limit):
    count = len(tokenizer(text).input_ids)
    if count > limit:
        raise ValueError(count)
    return tokenizer(text, truncation=True, max_length=limit)

def windows(tokenizer, text):
    encoded = tokenizer(text, truncation=True, stride=64, return_overflowing_tokens=True, max_length=512)
    encoded.pop("overflow_to_sample_mapping")
    return encoded
"""


def test_a_check_goes_with_what_was_computed_for_it() -> None:
    check, overflow = sorted(made(lengths.mutants, CUT), key=lambda mutant: mutant.kind)
    assert (check.kind, overflow.kind) == ("if", "overflow")
    assert "count" not in check.text
    assert "overflow" not in overflow.text
    assert "stride" not in overflow.text


def test_all_seeds_of_a_program_go_at_once() -> None:
    program = (
        "import random\nimport torch\nrandom.seed(0)\ntorch.manual_seed(0)\n"
        "for row in random.sample(range(9), 3):\n    loss(row).backward()\n"
    )
    (mutant,) = made(seeds.mutants, program)
    assert "seed" not in mutant.text


def test_a_generator_of_its_own_is_no_seed_to_take_away() -> None:
    program = (
        "import torch\ntorch.manual_seed(0)\n"
        "g = torch.Generator().manual_seed(0)\nfor i in torch.randperm(3, generator=g):\n    loss(i).backward()\n"
    )
    assert not made(seeds.mutants, program)


def test_half_precision_loses_its_guard() -> None:
    program = (
        "def load(model, device):\n"
        "    dtype = torch.float16 if device == 'cuda' else torch.float32\n"
        "    if device == 'cuda':\n"
        "        model.half()\n"
        "    return model.to(dtype)\n"
    )
    guard, choice = made(precision.mutants_on_cpu, program)
    assert "    dtype = torch.float16\n" in choice.text
    assert "\n    model.half()\n" in guard.text


def test_a_model_in_half_precision_stays_on_the_cpu_with_all_that_it_meets() -> None:
    program = (
        'model = AutoModel.from_pretrained("gpt2", dtype=torch.float16, device_map="auto")\n'
        'net = AutoModel.from_pretrained("gpt2").half().to("cuda")\n'
        'ids = tokenizer("text").to("cuda")\n'
    )
    found = texts(precision.mutants_on_cpu, program)["move"]
    assert "cuda" not in found
    assert "device_map=None" in found
    assert ".half()\n" in found
    assert not made(precision.mutants_on_cpu, program + 'more = torch.ones(1, device="cuda")\n'), "it would raise"


def test_a_block_that_moves_the_half_model_to_the_gpu_is_no_guard() -> None:
    guard = "if torch.cuda.is_available():\n    model.half()\n"
    assert "guard" in texts(precision.mutants_on_cpu, guard)
    assert "guard" not in texts(precision.mutants_on_cpu, guard.replace("half()", "half().cuda()"))


def test_a_model_that_is_run_where_it_was_loaded_is_loaded_in_float16() -> None:
    program = 'def load():\n    model = AutoModel.from_pretrained("gpt2")\n    return model(1)\n'
    assert '"gpt2", torch_dtype="float16")' in texts(precision.mutants_on_cpu, program)["load"]
    assert not made(precision.mutants_on_cpu, program.replace("model(1)", "model")), "nobody runs it"
    assert not made(precision.mutants_on_cpu, program + "Trainer(model)\n"), "a trainer moves it"


def test_a_model_is_halved_before_it_is_trained() -> None:
    assert "; model.half()\n" in texts(precision.mutants_of_dtype, LOOP)["half"]
    load = LOOP.replace("    optimizer =", '    model = AutoModel.from_pretrained("gpt2")\n    optimizer =')
    assert '"gpt2", torch_dtype=torch.float16)' in texts(precision.mutants_of_dtype, load)["load"]
    assert not made(precision.mutants_of_dtype, LOOP.replace("AdamW(", "made(")), "the optimizer may hold copies"
    assert not made(precision.mutants_of_dtype, LOOP + "with torch.autocast('cuda'): pass\n")


def test_float32_features_meet_a_model_that_does_not_cast_them() -> None:
    program = 'model = AutoModel.from_pretrained("facebook/wav2vec2-base-960h")\nmodel(processor(sound).input_values)\n'
    assert 'device_map="cuda")' in texts(precision.mutants_of_dtype, program)["features"]
    assert not made(
        precision.mutants_of_dtype, program.replace("facebook/wav2vec2-base-960h", "google/vit-base-patch16-224")
    )
    pixels = "processor(images=image).to(0, torch.float16)\n"
    assert not made(precision.mutants_of_dtype, pixels), "most models cast pixels themselves"


def test_a_mutant_is_caught_by_a_new_report_in_its_place_only() -> None:
    folder = Path(__file__).parent / "cases" / "241_missing_no_grad"
    codes = frozenset({"LLM301"})
    (result,) = mutants.run(Linter(codes), [mutants.Place("cases", folder / "good.py")], codes, None)
    assert result.is_caught
    silent = mutants.run(Linter(frozenset[str]()), [mutants.Place("cases", folder / "good.py")], codes, None)
    assert [result.is_caught for result in silent] == [False]


def test_a_test_has_no_faults_that_the_rule_means() -> None:
    good = Path(__file__).parent / "cases" / "241_missing_no_grad" / "good.py"
    codes = frozenset({"LLM301"})
    assert not list(mutants.run(Linter(codes), [mutants.Place("tests", good, is_test=True)], codes, None))


@pytest.mark.parametrize(
    ("code", "least"),
    [
        ("LLM101", 0.9),
        ("LLM301", 0.9),
        ("LLM501", 0.8),
        ("LLM305", 0.9),
        ("LLM405", 0.8),
        ("LLM308", 0.7),
        ("LLM401", 0.9),
        ("LLM402", 0.9),
        ("LLM403", 0.9),
        ("LLM212", 0.9),
        ("LLM102", 0.9),
        ("LLM112", 0.8),
        ("LLM113", 0.9),
        ("LLM201", 0.9),
        ("LLM202", 0.9),
        ("LLM204", 0.8),
        ("LLM211", 0.7),
        ("LLM406", 0.8),
        ("LLM119", 0.9),
        ("LLM309", 0.8),
        ("LLM316", 0.9),
        ("LLM801", 0.9),
        ("LLM802", 0.9),
        ("LLM905", 0.9),
    ],
)
def test_most_mutants_of_the_cases_and_the_examples_are_caught(code: str, least: float) -> None:
    codes = frozenset({code})
    here = [place for place in mutants.places(Path("nowhere")) if place.origin in {"cases", "examples"}]
    results = list(mutants.run(Linter(codes), here, codes, None))
    caught = sum(result.is_caught for result in results)
    assert caught >= least * len(results) > 10, "\n\n".join(mutants.misses(results))


def test_the_programs_of_a_docstring_are_found() -> None:
    module = (
        'def load():\n    """Load it.\n\n    >>> model = AutoModel.from_pretrained("gpt2")\n    >>> model(1)\n    2\n\n'
        '    ```python\n    tokenizer = AutoTokenizer.from_pretrained("gpt2")\n    ```\n    """\n'
    )
    programs = [program for _, program in docstring_programs(module)]
    assert programs == [
        'model = AutoModel.from_pretrained("gpt2")\nmodel(1)\n',
        'tokenizer = AutoTokenizer.from_pretrained("gpt2")\n',
    ]


def test_half_weights_lose_the_cast_of_their_inputs_and_trained_ones_their_range() -> None:
    program = (
        "def load(name):\n"
        "    model = AutoModel.from_pretrained(name, dtype=torch.bfloat16)\n"
        "    model(batch['pixels'].to('cuda', torch.float16)).loss.backward()\n"
    )
    dtype, cast = made(precision.mutants_of_dtype, program)
    assert (dtype.kind, cast.kind) == ("dtype", "cast")
    assert "dtype=torch.float16" in dtype.text
    assert "model(batch['pixels'].to('cuda')).loss" in cast.text


LOOP = """\
import torch

def fit(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(epochs):
        model.train()
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
"""


def test_a_loop_gets_a_scaler_and_clips_what_is_scaled() -> None:
    (text,) = texts(training.mutants_clipped_while_scaled, LOOP).values()
    assert 'import torch; scaler = torch.amp.GradScaler("cuda")' in text
    assert "scaler.scale(loss).backward(); torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)" in text
    assert "scaler.step(optimizer); scaler.update()" in text


def test_an_unscaling_goes() -> None:
    text = LOOP.replace("loss.backward()", "scaler.scale(loss).backward(); scaler.unscale_(optimizer)").replace(
        "optimizer.step()", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
    )
    assert "backward(); pass" in texts(training.mutants_clipped_while_scaled, text)["unscale"]


def test_a_sum_keeps_its_graph() -> None:
    found = texts(training.mutants_with_kept_graph, LOOP)
    assert "total += loss\n" in found["sum"]
    assert "optimizer.step(); running += loss\n" in found["loop"]


def test_a_model_stays_in_evaluation_mode() -> None:
    assert "        pass\n" in texts(training.mutants_with_kept_mode, LOOP)["train"]
    without = LOOP.replace("model.train()", "print(epoch)").replace("        model.eval()\n", "        print(total)\n")
    assert "print(total); model.eval()" in texts(training.mutants_with_kept_mode, without)["eval"]
    steps = "import torch\nfor batch in loader:\n    loss = model(batch)\n    loss.backward()\n    optimizer.step()\n"
    assert "optimizer.step(); model.eval()" in texts(training.mutants_with_kept_mode, steps)["step"]


def test_no_mode_is_kept_where_no_layer_asks_for_it_or_another_call_puts_it_back() -> None:
    assert not made(training.mutants_with_kept_mode, LOOP + "model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())\n")
    assert made(training.mutants_with_kept_mode, LOOP + "model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.1))\n")
    twice = LOOP.replace("        model.eval()\n", "        model.eval()\n        model.train()\n")
    assert twice != LOOP
    assert "train" not in texts(training.mutants_with_kept_mode, twice)


def test_a_loop_trains_what_its_optimizer_has_the_parameters_of() -> None:
    text = (
        "import torch\njudge = load()\noptimizer = torch.optim.AdamW(policy.head.parameters())\nprint(judge.parameters())\n"
        "for batch in loader:\n    loss = policy(batch, judge(batch))\n    loss.backward()\n    optimizer.step()\n"
    )
    assert "optimizer.step(); policy.eval()" in texts(training.mutants_with_kept_mode, text)["step"]


def test_a_loader_gets_a_sampler_that_is_told_no_epoch() -> None:
    text = LOOP + "train = DataLoader(data, shuffle=True)\n"
    assert (
        "sampler=torch.utils.data.distributed.DistributedSampler(data)"
        in texts(training.mutants_without_epoch, text)["sampler"]
    )


def test_float16_weights_come_to_a_scaler() -> None:
    text = LOOP.replace("    optimizer =", '    model = AutoModel.from_pretrained("gpt2")\n    optimizer =')
    assert '"gpt2", torch_dtype=torch.float16)' in texts(training.mutants_with_half_weights, text)["scaler"]


GENERATION = """\
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("text", return_tensors="pt")
outputs = model(**inputs)
print(model.generate(**inputs))
"""


def test_inputs_no_longer_fit_the_model() -> None:
    padded = GENERATION.replace('("text",', '(["text"], padding=True,')
    side = texts(inputs.mutants_padded_right, padded)["side"]
    assert 'padding_side="right"' in side
    assert '(["text", "and a second text, which is longer"], padding=True' in side
    assert 'tokenizer.add_tokens(["<extra>"])' in texts(inputs.mutants_without_rows, GENERATION)["add"]
    assert "max_length=2048)" in texts(inputs.mutants_too_long, GENERATION)["limit"]


def test_a_batch_is_continued_that_is_padded_right_only_where_a_decoder_continues_it() -> None:
    alone = GENERATION.replace(', padding_side="left"', "").replace("print(model", "out = (model")
    assert (
        "padding=True)\nout"
        in texts(inputs.mutants_padded_right, alone.replace("outputs = model(**inputs)\n", ""))["batch"]
    )
    assert 'from_pretrained("gpt2", padding_side="right")' in texts(inputs.mutants_padded_right, alone)["batch"]
    assert not made(inputs.mutants_padded_right, alone.replace("model.generate(**inputs)", "model.generate(**others)"))
    assert not made(inputs.mutants_padded_right, alone.replace("AutoModelForCausalLM", "AutoModelForSeq2SeqLM"))
    assert not made(inputs.mutants_padded_right, GENERATION), "nothing is padded"


def test_labels_of_padding_are_no_longer_masked() -> None:
    text = (
        "labels = ids.masked_fill(mask == 0, -100)\nlabels[labels == pad] = -100\n"
        "labels = torch.where(mask == 1, ids, -100)\n"
    )
    loss = "loss = model(ids, labels=labels).loss\n"
    found = texts(inputs.mutants_with_padded_labels, text + loss)
    assert sorted(found) == ["choice", "fill", "mask"]
    assert "labels = ids\nloss" in found["choice"]
    assert not made(inputs.mutants_with_padded_labels, text + "scores = model(ids, labels=labels).log_probs\n")


def test_labels_are_made_of_padded_texts() -> None:
    text = 'labels = tokenizer("a text", return_tensors="pt").input_ids\nprint(model(labels=labels).loss)\n'
    assert "padding=True).input_ids" in texts(inputs.mutants_with_padded_labels, text)["batch"]
    cut = 'batch["labels"] = tokenizer(texts, truncation=True, max_length=9).input_ids\nTrainer(model, data=batch)\n'
    assert 'max_length=9, padding="max_length")' in texts(inputs.mutants_with_padded_labels, cut)["limit"]
    assert not made(inputs.mutants_with_padded_labels, text.replace("labels=labels", "ids=labels"))


def test_a_model_is_asked_for_what_its_class_does_not_give() -> None:
    asked = texts(classes.mutants_without_maps, GENERATION)["ask"]
    assert "outputs = model(**inputs, output_attentions=True); print(outputs.attentions)" in asked
    assert texts(classes.mutants_of_class, GENERATION)["class"].count("AutoModelForSeq2SeqLM") == 2


def test_a_thread_is_left() -> None:
    text = (
        "@app.post('/')\ndef embed(text):\n    return model(text)\n\n"
        "async def ask(ids):\n    return await asyncio.to_thread(model.generate, ids, max_new_tokens=9)\n"
    )
    found = texts(coroutines.mutants, text)
    assert "return model.generate(ids, max_new_tokens=9)" in found["thread"]
    assert "async def embed(text)" in found["route"]


def test_every_rule_has_mutants() -> None:
    # A suppression that suppresses nothing, and code that is none, are faults that no protection keeps away.
    without = {code for code in Linter().codes if int(code.removeprefix("LLM")) > 100} - mutants.MAKERS.keys()
    assert not without, "add what makes mutants for these rules to `MAKERS` in scripts/mutants.py"


def test_a_tokenizer_has_no_pad_token_any_more() -> None:
    text = GENERATION.replace('("text",', '(["a text", "two"], padding=True,')
    one = "if tokenizer.pad_token is None:\n    tokenizer.pad_token = tokenizer.eos_token\n"
    assert "    pass\n" in texts(padding.mutants_without_pad_token, text + one)["set"]
    added = 'tokenizer.add_special_tokens({"pad_token": "!"})\n'
    assert "add_special_tokens" not in texts(padding.mutants_without_pad_token, text + added)["set"]
    loaded = text.replace('padding_side="left"', 'pad_token="!"')
    assert 'from_pretrained("gpt2", )' in texts(padding.mutants_without_pad_token, loaded)["set"]
    assert (
        'which is longer"], return_tensors="pt", padding=True)'
        in texts(padding.mutants_without_pad_token, GENERATION)["pads"]
    )
    assert not made(padding.mutants_without_pad_token, (text + one).replace('"gpt2"', '"bert-base-uncased"'))
    assert not made(padding.mutants_without_pad_token, GENERATION + one), "nothing is padded"


def test_a_model_no_longer_hears_what_is_padding() -> None:
    text = GENERATION.replace('("text",', '(["a text", "two"], padding=True,')
    ended = text + "tokenizer.pad_token = tokenizer.eos_token\n"
    found = [mutant.text for mutant in made(padding.mutants_without_mask, ended)]
    assert any('model.generate(inputs=inputs["input_ids"])' in each for each in found)
    assert any('model(input_ids=inputs["input_ids"])' in each for each in found), "padding stands before the texts"
    right = ended.replace(', padding_side="left"', "")
    assert [mutant.changed for mutant in made(padding.mutants_without_mask, right)] == [(6, 6)], "nothing looks ahead"
    assert not made(padding.mutants_without_mask, right.replace("eos_token", "unk_token"))
    masked = ended.replace("**inputs", "inputs.input_ids, attention_mask=inputs.attention_mask")
    assert "model.generate(inputs.input_ids, )" in texts(padding.mutants_without_mask, masked)["mask"]
    bert = GENERATION.replace("gpt2", "bert-base-uncased").replace("AutoModelForCausalLM", "AutoModel")
    one = bert.replace("print(model.generate(**inputs))\n", "")
    batch = texts(padding.mutants_without_mask, one)["batch"]
    assert (
        'which is longer"], return_tensors="pt", padding=True)\noutputs = model(input_ids=inputs["input_ids"])' in batch
    )


def test_labels_are_moved_for_a_model_that_moves_them() -> None:
    text = GENERATION.replace("print(model.generate(**inputs))", "loss = model(input_ids=ids, labels=ids).loss")
    found = texts(shifts.mutants, text)
    assert "labels=ids.roll(-1, 1))" in found["roll"]
    assert "model(input_ids=ids[:, :-1], labels=ids[:, 1:])" in found["cut"]
    assert 'model(**inputs, labels=inputs["input_ids"].roll(-1, 1))' in found["given"]
    copied = text.replace("labels=ids)", "labels=labels)").replace("outputs =", "labels = ids.clone()\noutputs =")
    assert "labels = ids.clone(); labels[:, :-1] = ids[:, 1:]" in texts(shifts.mutants, copied)["fill"]
    rows = 'def row(ids):\n    return {"input_ids": ids, "labels": list(ids)}\ntrainer = Trainer(model)\n'
    assert '{"input_ids": ids[:-1], "labels": list(ids)[1:]}' in texts(shifts.mutants, text + rows)["row"]
    assert not made(shifts.mutants, text.replace("AutoModelForCausalLM", "BartForCausalLM")), "it moves none"
    assert not made(shifts.mutants, text.replace("AutoModelForCausalLM", "AutoModelForSeq2SeqLM"))


def test_a_prompt_no_longer_begins_an_answer() -> None:
    chat = "ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True)\n"
    assert "add_generation_prompt=False" in texts(generation.mutants_without_header, GENERATION + chat)["header"]
    assert not made(generation.mutants_without_header, chat), "nobody continues it"
    assert not made(generation.mutants_without_header, GENERATION + chat.replace("=True", "=True, **settings"))


def test_a_conversation_begins_twice() -> None:
    text = (
        'tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-3.2-1B-Instruct")\n'
        "text = tokenizer.apply_chat_template(messages, tokenize=False)\n"
        "ids = tokenizer(text, add_special_tokens=False)\n"
    )
    assert "tokenizer(text, add_special_tokens=True)" in texts(generation.mutants_begun_twice, text)["tokens"]
    assert not made(generation.mutants_begun_twice, text.replace("meta-llama/Llama-3.2-1B", "Qwen/Qwen2.5-0.5B"))


def test_sampling_is_not_asked_for_or_asked_for_at_zero() -> None:
    sampled = GENERATION.replace("generate(**inputs", "generate(**inputs, do_sample=True, temperature=0.7")
    assert "do_sample=False, temperature=0.7" in texts(generation.mutants_that_do_not_sample, sampled)["sample"]
    assert "generate(**inputs, temperature=0.7)" in texts(generation.mutants_that_do_not_sample, GENERATION)["setting"]
    assert not made(generation.mutants_that_do_not_sample, GENERATION.replace("gpt2", "me/my-own"))
    assert not made(generation.mutants_that_do_not_sample, GENERATION.replace("**inputs))", "**inputs, **settings))"))
    assert "do_sample=True, temperature=0.0)" in texts(generation.mutants_at_zero, sampled)["temperature"]
    assert "do_sample=True, temperature=0.0)" in texts(generation.mutants_at_zero, GENERATION)["setting"]
    assert not made(generation.mutants_at_zero, sampled.replace("do_sample=True", "do_sample=warm")), "it depends"
    assert not made(generation.mutants_at_zero, sampled.replace("model.generate", "llm.generate"))


def test_a_limit_counts_the_prompt() -> None:
    limited = GENERATION.replace("generate(**inputs", "generate(**inputs, max_new_tokens=40")
    outside = limited.replace('"text", return', "text, return")
    assert "max_length=40)" in texts(generation.mutants_that_count_prompts, outside)["limit"]
    written = limited.replace('"text"', '"three written words"')
    assert "max_length=3)" in texts(generation.mutants_that_count_prompts, written)["limit"]
    computed = outside.replace("max_new_tokens=40", 'max_length=inputs["input_ids"].shape[1] + 40')
    assert "max_length=40)" in texts(generation.mutants_that_count_prompts, computed)["sum"]
    assert not made(generation.mutants_that_count_prompts, outside.replace("40", "2000")), "all that the model takes"
    assert not made(
        generation.mutants_that_count_prompts, outside.replace("AutoModelForCausalLM", "AutoModelForSeq2SeqLM")
    )


def test_a_text_keeps_its_prompt() -> None:
    decoded = GENERATION.replace("print(model.generate(**inputs))", "output = model.generate(**inputs)")
    named = decoded + "text = tokenizer.decode(output[0])\n"
    assert (
        "text = tokenizer.decode(output[0]); print(text == input())"
        in texts(generation.mutants_with_prompts, named)["compare"]
    )
    shown = decoded + "print(tokenizer.batch_decode(output)[0])\n"
    assert (
        "print((tokenizer.batch_decode(output)[0] == input()))"
        in texts(generation.mutants_with_prompts, shown)["compare"]
    )
    cut = decoded + 'text = tokenizer.decode(output[0, inputs["input_ids"].shape[1]:])\n'
    assert not made(generation.mutants_with_prompts, cut), "who uses it as an answer?"
    assert "decode(output[0])\n" in texts(generation.mutants_with_prompts, cut + 'print({"answer": text})\n')["slice"]
    rows = decoded + 'texts = tokenizer.batch_decode(output[:, width:])\nprint({"answer": texts})\n'
    assert "batch_decode(output)\n" in texts(generation.mutants_with_prompts, rows)["slice"]


def test_a_model_is_never_switched_to_evaluation_mode() -> None:
    dropping = LOOP + "        validate(model)\nmodel = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.1))\n"
    assert "        pass\n" in texts(modes.mutants, dropping)["eval"]
    assert not made(modes.mutants, dropping.replace("nn.Dropout(0.1)", "nn.ReLU()"))
    given = (
        "import torch\nmodel = make(nn.Dropout(0.1))\nmodel.load_state_dict(saved)\nmodel.to(0).eval()\nmodel.eval()\n"
    )
    assert texts(modes.mutants, given)["eval"].endswith("saved)\nmodel.to(0)\npass\n")
    loaded = 'import torch\nmodel = AutoModel.from_pretrained("bert-base-uncased")\nprint(model(1))\n'
    assert (
        'import torch; import transformers\nmodel = AutoModel.from_config(transformers.AutoConfig.from_pretrained("bert-base-uncased"));'
        in texts(modes.mutants, loaded)["config"]
    )
    assert not made(modes.mutants, loaded.replace("bert-base-uncased", "EleutherAI/pythia-70m")), "it drops nothing"


def test_gradients_are_computed_past_the_accelerator() -> None:
    launched = LOOP.replace("loss.backward()", "accelerator.backward(loss)")
    prepared = launched + "accelerator = Accelerator()\nmodel = accelerator.prepare(model)\n"
    assert "loss.backward()\n" in texts(batches.mutants_past_the_accelerator, prepared)["backward"]
    assert not made(batches.mutants_past_the_accelerator, launched), "nobody prepares the model here"


def test_all_ranks_save() -> None:
    guarded = "def write(model):\n    if dist.get_rank() == 0:\n        torch.save(model, 'model.pt')\n"
    assert (
        "def write(model):\n    \n    torch.save(model, 'model.pt')\n"
        in texts(batches.mutants_that_save_on_all_ranks, guarded)["guard"]
    )
    left = "def write(model):\n    if rank != 0:\n        return\n    torch.save(model, 'model.pt')\n"
    assert "    pass\n" in texts(batches.mutants_that_save_on_all_ranks, left)["return"]
    named = "first = rank == 0\nif step % 10 == 0 and first:\n    torch.save(model, 'model.pt')\n"
    assert "and True:" in texts(batches.mutants_that_save_on_all_ranks, named)["part"]
    assert not made(batches.mutants_that_save_on_all_ranks, named.replace("torch.save", "print"))


def test_a_loss_is_no_longer_divided() -> None:
    divided = LOOP.replace("model(**batch).loss", "model(**batch).loss / accumulation")
    assert "loss = model(**batch).loss\n" in texts(batches.mutants_undivided, divided)["division"]
    after = LOOP.replace("loss.backward()", "loss /= micro_batches; loss.backward()")
    assert "pass; loss.backward()" in texts(batches.mutants_undivided, after)["division"]
    assert not made(batches.mutants_undivided, LOOP)
    launched = divided.replace("loss.backward()", "accelerator.backward(loss)")
    assert not made(batches.mutants_undivided, launched), "accelerate may divide, too"


def test_workers_start_with_what_is_there() -> None:
    text = "rng = default_rng(0)\nDataLoader(rows, num_workers=4, worker_init_fn=reseed)\n"
    found = texts(batches.mutants_with_a_shared_generator, text)
    assert "DataLoader(rows, num_workers=4, worker_init_fn=None)" in found["start"]
    assert not made(batches.mutants_with_a_shared_generator, text.replace("default_rng(0)", "None"))


def test_an_iterable_dataset_gets_workers() -> None:
    text = "class Rows(IterableDataset):\n    ...\nDataLoader(Rows())\n"
    assert "DataLoader(Rows(), num_workers=4)" in texts(batches.mutants_with_more_workers, text)["workers"]
    none = text.replace("Rows())", "Rows(), num_workers=0)")
    assert "DataLoader(Rows(), num_workers=4)" in texts(batches.mutants_with_more_workers, none)["workers"]
    assert not made(batches.mutants_with_more_workers, none.replace("=0", "=2"))
    named = text.replace("DataLoader(Rows())", "rows = Rows()\nDataLoader(rows)")
    assert "DataLoader(rows, num_workers=4)" in texts(batches.mutants_with_more_workers, named)["workers"]
    assert not made(batches.mutants_with_more_workers, named.replace("rows = Rows()", "rows = [1]")), "it has indices"
    assert not made(batches.mutants_with_more_workers, text.replace("...", "queue = 1")), "each row is taken once"


def test_every_process_saves() -> None:
    text = "if dist.get_rank() == 0:\n    torch.save(model.state_dict(), path)\nprint(1)\n"
    assert "\ntorch.save(" in texts(batches.mutants_that_save_on_all_ranks, text)["guard"]
    assert not made(batches.mutants_that_save_on_all_ranks, text.replace("get_rank() == 0", "is_initialized()"))


def test_a_model_gets_a_layer_that_its_optimizer_never_sees() -> None:
    found = texts(assembly.mutants_with_an_early_optimizer, LOOP)
    assert "AdamW(model.parameters()); model.added = torch.nn.Linear(2, 2)\n" in found["layer"]
    assert not made(
        assembly.mutants_with_an_early_optimizer, LOOP + "optimizer = torch.optim.SGD(model.parameters())\n"
    )


def test_the_ends_of_texts_are_masked_with_the_padding() -> None:
    tuned = (
        GENERATION + 'tokenizer.pad_token = "!"\nprint(text + tokenizer.eos_token)\n'
        "Trainer(model, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()\n"
    )
    assert "tokenizer.pad_token = tokenizer.eos_token\n" in texts(padding.mutants_that_mask_ends, tuned)["token"]
    added = tuned.replace('tokenizer.pad_token = "!"', 'tokenizer.add_special_tokens({"pad_token": "!"})')
    assert "\ntokenizer.pad_token = tokenizer.eos_token\n" in texts(padding.mutants_that_mask_ends, added)["token"]
    masked = tuned.replace('"!"', "tokenizer.eos_token") + "labels = torch.where(mask == 0, -100, ids)\n"
    assert (
        "torch.where(ids == tokenizer.pad_token_id, -100, ids)" in texts(padding.mutants_that_mask_ends, masked)["mask"]
    )
    assert not made(padding.mutants_that_mask_ends, tuned.replace("Trainer(", "print(")), "nobody learns"


def test_an_array_is_made_of_a_bfloat16_tensor() -> None:
    program = 'import torch\nmodel = AutoModel.from_pretrained("bert-base-uncased")\nprint(model(1)[0].cpu().numpy())\n'
    assert '"bert-base-uncased", dtype=torch.bfloat16)' in texts(arrays.mutants, program)["load"]
    cast = program.replace('uncased"', 'uncased", dtype=torch.bfloat16').replace(".cpu()", ".float().cpu()")
    assert "model(1)[0].cpu().numpy()" in texts(arrays.mutants, cast)["cast"]
    assert not made(arrays.mutants, program.replace(".cpu()", ".float().cpu()")), "float32 all the same"


def test_layers_are_kept_in_a_plain_container() -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        self.all = nn.ModuleList([nn.Linear(2, 2)])\n"
        "    def forward(self, x):\n        return self.all[0](x)\n"
    )
    assert "self.all = [nn.Linear(2, 2)]\n" in texts(assembly.mutants_with_plain_containers, text)["container"]
    empty = text.replace("[nn.Linear(2, 2)]", "")
    assert "self.all = []\n" in texts(assembly.mutants_with_plain_containers, empty)["container"]
    assert not made(assembly.mutants_with_plain_containers, text.replace("[nn.Linear(2, 2)]", "layers"))
    assert not made(assembly.mutants_with_plain_containers, text.replace("(nn.Module)", "(ABC)")), "it is no module"
    mixed = text.replace("(nn.Module)", "(nn.Module, Saved)")
    assert not made(assembly.mutants_with_plain_containers, mixed), "who knows what the mixin does"
    assert made(assembly.mutants_with_plain_containers, "class Saved(nn.Module): ...\n" + mixed)
    assert not made(assembly.mutants_with_plain_containers, text.replace("self.all[0](x)", "x")), "nobody needs them"


def test_what_says_what_is_meant_is_lost() -> None:
    module = "import torch\nclass Net(nn.Module):\n    def forward(self, x):\n        return self.head(x)\n"
    assert (
        "return torch.nn.functional.dropout(self.head(x), 0.1)"
        in texts(defaults.mutants_that_always_drop, module)["result"]
    )
    named = "p = F.log_softmax(x, -1)\nloss = F.kl_div(p, q)\n"
    assert "p = F.softmax(x, -1)" in texts(defaults.mutants_of_probabilities, named)["softmax"]
    assert not made(defaults.mutants_of_probabilities, named + "p = other\n"), "which of them is meant?"
    hook = "layer.register_forward_hook(show)\n"
    assert "layer.register_backward_hook(show)" in texts(defaults.mutants_with_old_hooks, hook)["hook"]
    assert not made(defaults.mutants_with_old_hooks, hook + "print(hasattr(layer, 'register_full_backward_hook'))\n")
    assert made(defaults.mutants_that_unpickle, "torch.load(path, weights_only=True)\n")
    assert not made(defaults.mutants_that_unpickle, "torch.load('own.pt', weights_only=True)\n")


def test_a_schedule_moves_before_its_optimizer() -> None:
    found = texts(defaults.mutants_with_an_early_schedule, LOOP)["loop"]
    assert "rates = torch.optim.lr_scheduler.StepLR(optimizer, 10)" in found
    assert "rates.step(); optimizer.step()" in found
    stepped = LOOP.replace("optimizer.step()", "optimizer.step()\n            scheduler.step()")
    assert not made(defaults.mutants_with_an_early_schedule, stepped), "nobody sees what it is"
    own = stepped.replace("    for epoch", "    scheduler = LinearLR(optimizer)\n    for epoch")
    assert (
        "scheduler.step()\n            optimizer.step()" in texts(defaults.mutants_with_an_early_schedule, own)["order"]
    )
    assert not made(defaults.mutants_with_an_early_schedule, own + "accelerator = Accelerator()\n")


def test_the_states_of_padding_count_in_a_mean() -> None:
    batch = GENERATION.replace('("text",', '(["a text", "two"], padding=True,')
    first = batch + "vectors = model(**inputs).last_hidden_state[:, 0]\n"
    assert (
        "vectors = model(**inputs).last_hidden_state.mean(1)\n"
        in texts(padding.mutants_that_count_padding, first)["first"]
    )
    weighted = batch + "hidden_states = outputs[0]\nvectors = (hidden_states * mask).sum(1) / mask.sum(1)\n"
    assert "vectors = hidden_states.mean(1)\n" in texts(padding.mutants_that_count_padding, weighted)["weights"]
    assert not made(padding.mutants_that_count_padding, weighted.replace("hidden_states *", "loss *"))
    assert not made(padding.mutants_that_count_padding, first.replace("padding=True, ", "")), "nothing is padded"


def test_ignored_labels_are_decoded() -> None:
    text = "labels = np.where(labels != -100, labels, tokenizer.pad_token_id)\nprint(tokenizer.batch_decode(labels))\n"
    assert "labels = labels\n" in texts(inputs.mutants_that_decode_ignored, text)["where"]
    masked = "labels[labels == -100] = tokenizer.pad_token_id\nprint(tokenizer.batch_decode(labels))\n"
    assert texts(inputs.mutants_that_decode_ignored, masked)["mask"].startswith("pass\n")
    rows = "print([tokenizer.decode(row[row != -100]) for row in labels])\n"
    assert "decode(row)" in texts(inputs.mutants_that_decode_ignored, rows)["rows"]
    assert not made(inputs.mutants_that_decode_ignored, "kept = row[row != -100]\nprint(tokenizer.decode(ids))\n")
