"""Which tokenizers the facts bring together with which models."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import NO, Facts
from llm_lsp.source import Source

PAIR = """
from transformers import AutoModelForCausalLM as M, AutoTokenizer as T
"""


def differing(code: str) -> set[tuple[str, str]]:
    """The tokenizers that feed a model with another vocabulary, with that model."""
    source = Source.from_text("example.py", PAIR + dedent(code))
    with ExampleWorld({}, {}, {}) as world:
        found = Facts(source, world).meetings()
        return {(each.tokenizer.name, each.model.name) for each in found if each.vocabulary_is_shared is NO}


FED = {("gpt2", "facebook/opt-125m")}


@pytest.mark.parametrize(
    "code",
    [
        "'facebook-opt-125m'.replace('-', '/', 1)",
        "'opt-125m.facebook'.split('.')[1] + '/' + 'opt-125m'",
        "'/'.join(['facebook', 'opt-125m'])",
        "'./facebook/opt-125m'.removeprefix('./')",
        "os.path.join('facebook', 'opt-125m')",
        "{'name': 'facebook/opt-125m'}.get('name', 'gpt2')",
    ],
)
def test_names_that_methods_of_strings_make_of_constants_are_known(code: str) -> None:
    assert differing(f"import os\nM.from_pretrained({code}).generate(**T.from_pretrained('gpt2')('a'))") == FED


def test_the_branches_of_a_loader_never_mix() -> None:
    code = """
    def load(kind):
        if kind == "opt":
            tokenizer = T.from_pretrained({!r})
            model = M.from_pretrained("facebook/opt-125m")
        else:
            tokenizer = T.from_pretrained("gpt2")
            model = M.from_pretrained("distilgpt2")
        return tokenizer, model
    def main(kind):
        tokenizer, model = load(kind)
        model.generate(**tokenizer("a"))
    """
    assert differing(code.format("facebook/opt-350m")) == set()
    assert differing(code.format("bert-base-cased")) == {("bert-base-cased", "facebook/opt-125m")}


def test_what_decodes_generated_ids_meets_the_model_that_generated_them() -> None:
    code = """
    model, own = M.from_pretrained("facebook/opt-125m"), T.from_pretrained("facebook/opt-350m")
    other = T.from_pretrained("gpt2")
    ids = model.generate(**own("a"))
    text = {}.batch_decode(ids)
    """
    assert differing(code.format("own")) == set()
    assert differing(code.format("other")) == FED


def test_a_trainer_trains_what_model_init_makes() -> None:
    code = """
    from transformers import Trainer
    tokenizer = T.from_pretrained("gpt2")
    def model_init():
        return M.from_pretrained("facebook/opt-125m")
    Trainer(model_init=model_init, processing_class=tokenizer)
    """
    assert differing(code) == FED


def test_the_initializer_of_a_pool_runs_before_its_work() -> None:
    code = """
    import multiprocessing
    model = None
    def begin(name):
        global model, tokenizer
        model, tokenizer = M.from_pretrained(name), T.from_pretrained("gpt2")
    def work(text):
        return tokenizer.decode(model.generate(**tokenizer(text))[0])
    if __name__ == "__main__":
        with multiprocessing.Pool(2, begin, ("facebook/opt-125m",)) as pool:
            pool.map(work, ["a"])
    """
    assert differing(code) == FED


def test_an_instance_that_collates_is_called() -> None:
    code = """
    from torch.utils.data import DataLoader
    class Collate:
        def __init__(self, tokenizer):
            self.tokenizer = tokenizer
        def __call__(self, rows):
            return self.tokenizer(rows, return_tensors="pt")
    model, tokenizer = M.from_pretrained("facebook/opt-125m"), T.from_pretrained("gpt2")
    for batch in DataLoader(["a"], collate_fn=Collate(tokenizer)):
        model(**batch)
    """
    assert differing(code) == FED


def test_a_tokenizer_on_a_class_is_called() -> None:
    code = """
    class Config:
        tokenizer = None
    Config.tokenizer = T.from_pretrained("gpt2")
    M.from_pretrained("facebook/opt-125m").generate(**Config.tokenizer("a"))
    """
    assert differing(code) == FED


def test_what_one_call_is_given_as_model_and_tokenizer_belongs_together() -> None:
    code = """
    from project import Harness
    Harness(model=M.from_pretrained("facebook/opt-125m"), tokenizer=T.from_pretrained("gpt2"))
    """
    assert differing(code) == FED


@pytest.mark.parametrize(
    "line",
    [
        "model.transformer.wte = torch.nn.Embedding(len(tokenizer), 768)",
        "from project import resize_embeddings\nresize_embeddings(model, tokenizer)",
        "model = M.from_pretrained('facebook/opt-125m', vocab_size=50257)",
        "config.vocab_size = len(tokenizer)\nmodel = M.from_pretrained('facebook/opt-125m', config=config)",
    ],
)
def test_a_model_whose_embeddings_the_program_makes_has_rows_of_its_own(line: str) -> None:
    code = f"""
import torch
from transformers import AutoConfig
tokenizer, config = T.from_pretrained("gpt2"), AutoConfig.from_pretrained("facebook/opt-125m")
model = M.from_pretrained("facebook/opt-125m")
{line}
model.generate(**tokenizer("a"))
"""
    assert differing(code) == set()


def test_a_tokenizer_that_only_counts_belongs_to_no_model() -> None:
    code = """
    class Bot:
        def __init__(self):
            self.counter = T.from_pretrained("gpt2")
            self.model = M.from_pretrained("facebook/opt-125m")
        def length(self, text):
            return len(self.counter(text)["input_ids"])
    """
    assert differing(code) == set()
