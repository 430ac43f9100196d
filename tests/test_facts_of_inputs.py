"""What is known of padding, added tokens and lengths, and what is admitted not to be known."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import NO, UNKNOWN, YES, Facts, Truth
from llm_lsp.source import Source

IMPORTS = """
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
"""


def facts_of(code: str) -> Facts:
    with ExampleWorld({}, {}, {}) as world:
        return Facts(Source.from_text("example.py", IMPORTS + dedent(code)), world)


# ---------------------------------------------------------------- padding

GPT2 = """
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
"""
GENERATES = """
model.generate(**tokenizer(["a", "b c"], padding=True))
"""


def sides(code: str) -> list[Truth]:
    facts = facts_of(code)
    return [batch.is_padded_right for call in facts.calls("generate") for batch in facts.padded_prompts(call)]


@pytest.mark.parametrize(
    ("change", "truth"),
    [
        ("", YES),
        ("tokenizer.padding_side = 'left'", NO),
        ("tokenizer.padding_side = 'left'\ntokenizer.padding_side = 'right'", YES),
        ("before = tokenizer.padding_side\ntokenizer.padding_side = 'left'\ntokenizer.padding_side = before", YES),
        ("if fast():\n    tokenizer.padding_side = 'left'", UNKNOWN),
        ("tokenizer.padding_side = side()", UNKNOWN),
        ("from project import prepare\nprepare(tokenizer)", UNKNOWN),
        ("setattr(tokenizer, name(), 'left')", UNKNOWN),
    ],
)
def test_the_side_is_the_one_that_was_set_last(change: str, truth: Truth) -> None:
    assert sides(GPT2 + change + GENERATES) == [truth]


@pytest.mark.parametrize(
    ("load", "truth"),
    [
        ("'facebook/opt-125m'", YES),
        ("'gpt2', padding_side='left'", NO),
        ("'meta-llama/Llama-2-7b-hf', padding_side='right'", YES),
        ("'meta-llama/Llama-2-7b-hf'", UNKNOWN),
        ("'our-team/gpt2'", UNKNOWN),
        ("'gpt2', **options()", UNKNOWN),
        ("'gpt2' if small() else name()", UNKNOWN),
    ],
)
def test_the_side_of_a_checkpoint_is_known_of_few(load: str, truth: Truth) -> None:
    code = f"tokenizer = AutoTokenizer.from_pretrained({load})\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')\n"
    assert sides(code + GENERATES) == [truth]


def test_the_call_itself_may_ask_for_a_side() -> None:
    assert sides(GPT2 + "model.generate(**tokenizer(['a', 'b c'], padding=True, padding_side='left'))") == [NO]


def test_a_side_that_another_function_sets_may_hold() -> None:
    code = f"""{GPT2}
def prepare():
    tokenizer.padding_side = "left"
def complete(prompts):
    return model.generate(**tokenizer(prompts, padding=True))
"""
    assert sides(code) == [UNKNOWN]


@pytest.mark.parametrize("texts", ["'a'", "['a']", "prompt", "messages", "prompts[0]", "row['text']"])
def test_one_text_is_not_padded(texts: str) -> None:
    code = f"{GPT2}\ndef f(prompt, prompts, messages, row):\n    model.generate(**tokenizer({texts}, padding=True))"
    assert sides(code) == []


@pytest.mark.parametrize(
    "texts", ["prompts", "prompts[i : i + 8]", "batch['text']", "[a for a in f]", "list(f)", "f.questions"]
)
def test_several_texts_are_padded(texts: str) -> None:
    code = f"{GPT2}\ndef g(prompts, batch, f, i):\n    model.generate(**tokenizer({texts}, padding=True))"
    assert sides(code) == [YES]


def test_encoder_decoder_models_and_unknown_ones_have_no_padded_prompts() -> None:
    code = "tokenizer = AutoTokenizer.from_pretrained('gpt2')\n"
    assert sides(code + "model = AutoModelForSeq2SeqLM.from_pretrained('t5-small')" + GENERATES) == []
    assert sides(code + "from project import model" + GENERATES) == []


# ---------------------------------------------------------------- added tokens

RUNS = """
model.generate(**tokenizer("a"))
"""


def rows(code: str) -> list[Truth]:
    return [added.rows_suffice for added in facts_of(code).added_tokens()]


@pytest.mark.parametrize(
    ("change", "truth"),
    [
        ("tokenizer.add_tokens(['<a>'])", NO),
        ("tokenizer.add_tokens('<a>')", NO),
        ("tokenizer.add_special_tokens({'cls_token': '<a>'})", NO),
        ("tokenizer.add_tokens(words())", NO),
        ("tokenizer.add_tokens([])", UNKNOWN),
        ("tokenizer.add_tokens(['</s>'])", UNKNOWN),
        ("tokenizer.add_tokens(['dog'])", UNKNOWN),
        ("tokenizer.add_special_tokens(words())", UNKNOWN),
        ("tokenizer.add_special_tokens({'cls_token': tokenizer.eos_token})", UNKNOWN),
        ("tokenizer.add_special_tokens({'pad_token': '<p>'})", UNKNOWN),
        ("tokenizer.add_tokens(['<a>'])\nfrom project import fit\nfit(model)", UNKNOWN),
        ("tokenizer.add_tokens(['<a>'])\nmodel.load_state_dict(weights())", UNKNOWN),
        ("tokenizer = AutoTokenizer.from_pretrained('gpt2', cls_token='<a>')", NO),
    ],
)
def test_tokens_need_rows_if_they_certainly_are_new(change: str, truth: Truth) -> None:
    assert rows(GPT2 + change + RUNS) == [truth]


def test_a_model_whose_embeddings_are_replaced_is_left_alone() -> None:
    assert NO not in rows(GPT2 + "tokenizer.add_tokens(['<a>'])\nmodel.transformer.wte = wider()" + RUNS)


def test_a_resized_model_has_no_added_tokens_beside_it() -> None:
    assert rows(GPT2 + "tokenizer.add_tokens(['<a>'])\nmodel.resize_token_embeddings(len(tokenizer))" + RUNS) == []


def test_padded_vocabularies_have_rows_to_spare() -> None:
    code = GPT2.replace("gpt2", "EleutherAI/pythia-70m")
    assert rows(code + "tokenizer.add_tokens(['<a>', '<b>'])" + RUNS) == [YES]
    many = ", ".join(f"'<{number}>'" for number in range(40))
    assert rows(code + f"tokenizer.add_tokens([{many}])" + RUNS) == [NO]


def test_a_pad_token_counts_where_something_is_padded() -> None:
    assert rows(GPT2 + "tokenizer.add_special_tokens({'pad_token': '<p>'})" + GENERATES) == [NO]


def test_a_test_for_a_missing_pad_token_fails_where_there_is_one() -> None:
    code = GPT2.replace("gpt2", "roberta-base")
    added = "if tokenizer.pad_token is None:\n    tokenizer.add_tokens(['<p>'])"
    assert rows(code + added + RUNS) == [UNKNOWN]


# ---------------------------------------------------------------- lengths


def beyond(code: str) -> list[Truth]:
    return [length.is_beyond_context for length in facts_of(code).lengths()]


@pytest.mark.parametrize(
    ("call", "truth"),
    [
        ("model(**tokenizer('a', padding='max_length', max_length=1025))", YES),
        ("model(**tokenizer('a', padding='max_length', max_length=1024))", NO),
        ("model(**tokenizer('a', padding='max_length', max_length=limit()))", UNKNOWN),
        ("model(**tokenizer('a', truncation=True, max_length=2000))", YES),
        ("ids = tokenizer('a', truncation=True, max_length=2000)\nprint(len(ids['input_ids']))\nmodel(**ids)", UNKNOWN),
        ("ids = tokenizer('a', max_length=2000)['input_ids']\nmodel(ids[:, :limit()])", UNKNOWN),
        ("model(tokenizer('a')['input_ids'][:, :1025])", YES),
        ("ids = tokenizer('a')['input_ids'][:, :2048]\nmodel(ids[:, start() : start() + 512])", UNKNOWN),
        ("model(tokenizer('a', padding='max_length', max_length=2048)['input_ids'].view(-1, 512))", UNKNOWN),
        (
            "ids = tokenizer('a', padding='max_length', max_length=2048)\nfrom p import pieces\nmodel(pieces(ids))",
            UNKNOWN,
        ),
        ("tokenizer.model_max_length = 2000\nmodel(**tokenizer('a', truncation=True))", YES),
        ("model.generate(**tokenizer('a'), max_new_tokens=1024)", YES),
        ("model.generate(**tokenizer('a'), max_length=1024)", NO),
        ("model.generate(**tokenizer('a'), max_length=limit())", UNKNOWN),
        ("from project import stretch\nstretch(model)\nmodel.generate(**tokenizer('a'), max_length=3000)", UNKNOWN),
        ("model.transformer.wpe = longer()\nmodel.generate(**tokenizer('a'), max_length=3000)", UNKNOWN),
    ],
)
def test_a_length_is_beyond_the_context_of_the_model_that_gets_it(call: str, truth: Truth) -> None:
    assert beyond(GPT2 + call) == [truth]


def test_prompt_and_answer_count_together_where_each_alone_fits() -> None:
    call = "model.generate(**tokenizer('a', padding='max_length', max_length={}), max_new_tokens=100)"
    assert beyond(GPT2 + call.format(1000)) == [NO, NO, YES]
    assert beyond(GPT2 + call.format(900)) == [NO, NO, NO]
    assert beyond(GPT2 + call.format(2000)) == [YES, NO, NO]


@pytest.mark.parametrize("load", ["'bigscience/bloom-560m'", "'our-team/gpt2'", "'gpt2', config=config()", "name()"])
def test_contexts_without_a_limit_and_unknown_ones_are_unknown(load: str) -> None:
    code = f"tokenizer = AutoTokenizer.from_pretrained('gpt2')\nmodel = AutoModelForCausalLM.from_pretrained({load})\n"
    found = beyond(code + "model(**tokenizer('a', padding='max_length', max_length=90_000))")
    assert YES not in found
    assert NO not in found
