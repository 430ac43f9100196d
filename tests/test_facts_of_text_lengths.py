"""Whether a program looks at how long the texts are that it tokenizes."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import NO, UNKNOWN, YES, Facts, Truth
from llm_lsp.source import Source

START = """\
import torch
from torch.utils.data import Dataset
from transformers import AutoModel, AutoTokenizer, pipeline
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2")
judge = pipeline("text-classification", model="gpt2")
"""
CUT = "truncation=True, max_length=512"


def looks(code: str) -> list[Truth]:
    """Of the tokenizations that cut, in order, whether the length of their texts is looked at."""
    source = Source.from_text("example.py", START + dedent(code))
    with ExampleWorld({}, {}, {}) as world:
        facts = Facts(source, world)
        return [call.length_is_examined for call in facts.tokenizations() if call.cuts_text is not None]


@pytest.mark.parametrize("given", ["text", "[text]", "['query: ' + text]", "[f'query: {text}']"])
def test_a_text_is_the_same_text_in_a_list(given: str) -> None:
    measured = f"""
        def embed(text):
            if len(tokenizer.tokenize(text)) > 510:
                raise ValueError
            return model(**tokenizer({given}, {CUT})).pooler_output.mean()
        """
    assert looks(measured) == [YES]


def test_the_pieces_that_a_generator_cuts_are_pieces_in_a_list_as_well() -> None:
    assert looks(f"""
        def pieces(text):
            ids = tokenizer(text)["input_ids"]
            for start in range(0, 5000, 500):
                yield tokenizer.decode(ids[start : start + 500])

        @torch.no_grad()
        def embed(text):
            return model(**tokenizer(["passage: " + piece for piece in pieces(text)], {CUT})).pooler_output.mean()
        """) == [YES]


def test_lengths_that_are_kept_in_a_table_are_looked_at() -> None:
    assert looks(f"""
        import pandas
        frame = pandas.read_csv("texts.csv")
        frame["length"] = [len(ids) for ids in tokenizer(frame["text"].tolist())["input_ids"]]
        print(model(**tokenizer(frame["text"].tolist(), {CUT})).pooler_output.mean())
        """) == [YES]


def test_lengths_that_go_where_somebody_else_keeps_them_are_looked_at() -> None:
    assert looks(f"""
        def answer(text, results):
            batch = tokenizer(text, {CUT})
            results[0] = {{"vector": model(**batch).pooler_output.mean(), "tokens": batch.input_ids.shape[1]}}
        """) == [YES]


@pytest.mark.parametrize("count", ["len(judge.tokenizer(text).input_ids)", "len(judge.tokenizer.encode(text))"])
def test_the_tokenizer_of_a_pipeline_counts_tokens(count: str) -> None:
    assert looks(f"""
        def tone(text):
            if {count} > 512:
                print("too long")
            return judge(text, {CUT})
        """) == [YES]


ITEMS = """
class Texts(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def {method}(self, index):
        return tokenizer(self.rows[index], truncation=True, max_length=512)
"""


def test_what_a_dataset_gives_a_loader_is_seen_by_nobody() -> None:
    assert looks(ITEMS.format(method="__getitem__")) == [NO]


def test_what_a_method_gives_its_caller_may_be_looked_at() -> None:
    assert looks(ITEMS.format(method="row")) == [UNKNOWN]
