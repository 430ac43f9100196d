"""LLM102 pad-token-unset."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Good, InsertAfter, Report, Rule, Severity


class PadTokenUnset(Rule):
    """A tokenizer is to pad, and has no token to pad with.

    GPT-2, Llama, Mistral, Pythia and Falcon were trained on packed text, and their tokenizers ship without a pad token.
    With `padding=True` transformers raises `ValueError`: "Asking to pad but the tokenizer does not have a padding token".
    For inference any token will do, since the mask hides it: `tokenizer.pad_token = tokenizer.eos_token`. A model that is
    to learn where texts end needs another one, as collators take padding out of the loss: an unused token of the
    vocabulary, or one that is added with rows for it.

    Nothing is said where the program sets a pad token on any way, hands the tokenizer to code that may (TRL's trainers do),
    or where nothing is known of the checkpoint. It is a warning where no file says that the pad token is missing.
    """

    code = "LLM102"
    severity = Severity.ERROR
    triggers = ("padding", ".pad(", "WithPadding")
    bad = [
        Bad(
            """\
from transformers import AutoTokenizer

def encode(texts):
    tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-410m")
    return tokenizer(texts, padding=True, return_tensors="pt")  # <- `EleutherAI/pythia-410m` has no pad token
""",
            fixed="""\
from transformers import AutoTokenizer

def encode(texts):
    tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-410m")
    tokenizer.pad_token = tokenizer.eos_token
    return tokenizer(texts, padding=True, return_tensors="pt")
""",
            severity=Severity.WARNING,
        ),
        # A class whose methods share the tokenizer; a file says that there is none.
        Bad(
            """\
from transformers import AutoTokenizer

class Batches:
    def __init__(self, folder="./tuned"):
        self.tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
        self.limit = 128

    def encode(self, text):
        return self.tokenizer(text, padding="max_length", max_length=self.limit)  # <- `./tuned` has no pad token

batches = Batches()
print(batches.encode("a text"))
""",
            fixed="""\
from transformers import AutoTokenizer

class Batches:
    def __init__(self, folder="./tuned"):
        self.tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.limit = 128

    def encode(self, text):
        return self.tokenizer(text, padding="max_length", max_length=self.limit)

batches = Batches()
print(batches.encode("a text"))
""",
            checkpoints={
                "tuned": {
                    "config.json": '{"model_type": "llama", "vocab_size": 32000}',
                    "tokenizer_config.json": '{"eos_token": "</s>", "pad_token": null}',
                }
            },
        ),
        # A notebook with a collator.
        Bad(
            {
                "train.ipynb": [
                    "from torch.utils.data import DataLoader\nfrom transformers import DataCollatorWithPadding, GPT2Tokenizer\n",
                    'tokenizer = GPT2Tokenizer.from_pretrained("gpt2")\nrows = [tokenizer(line) for line in open("lines.txt")]\n',
                    """\
loader = DataLoader(rows, batch_size=8, collate_fn=DataCollatorWithPadding(tokenizer))  # <- `gpt2` has no pad token
""",
                ]
            },
            fixed={
                "train.ipynb": [
                    "from torch.utils.data import DataLoader\nfrom transformers import DataCollatorWithPadding, GPT2Tokenizer\n",
                    """\
tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
rows = [tokenizer(line) for line in open("lines.txt")]
""",
                    """\
loader = DataLoader(rows, batch_size=8, collate_fn=DataCollatorWithPadding(tokenizer))
""",
                ]
            },
            severity=Severity.WARNING,
        ),
        # A helper for several tokenizers, called in a loop.
        Bad(
            """\
from transformers import AutoTokenizer

def encode(tokenizer, lines):
    rows = [{"input_ids": tokenizer(line).input_ids} for line in lines]
    return tokenizer.pad(rows, return_tensors="pt")

bert = AutoTokenizer.from_pretrained("bert-base-uncased")
falcon = AutoTokenizer.from_pretrained("tiiuae/falcon-7b")
for lines in (["one", "one and two"], ["three"]):
    print(encode(bert, lines))
    print(encode(falcon, lines))  # <- `tiiuae/falcon-7b` has no pad token
""",
            fixed="""\
from transformers import AutoTokenizer

def encode(tokenizer, lines):
    rows = [{"input_ids": tokenizer(line).input_ids} for line in lines]
    return tokenizer.pad(rows, return_tensors="pt")

bert = AutoTokenizer.from_pretrained("bert-base-uncased")
falcon = AutoTokenizer.from_pretrained("tiiuae/falcon-7b")
falcon.pad_token = falcon.eos_token
for lines in (["one", "one and two"], ["three"]):
    print(encode(bert, lines))
    print(encode(falcon, lines))
""",
            severity=Severity.WARNING,
        ),
    ]
    good = [
        Good("""\
from transformers import AutoTokenizer

def encode(texts):
    tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-410m")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer(texts, padding=True, return_tensors="pt")
"""),
        # The checkpoint has one; nothing is known of it; nothing is padded.
        Good("""\
from transformers import AutoTokenizer

def encode(texts, name, is_padded):
    bert = AutoTokenizer.from_pretrained("bert-base-uncased")
    other = AutoTokenizer.from_pretrained(name)
    gpt2 = AutoTokenizer.from_pretrained("gpt2")
    own = AutoTokenizer.from_pretrained("somebody/gpt2-tuned")
    padded = [one(texts, padding=True) for one in (bert, other, own)]
    return padded, gpt2(texts, padding=False), gpt2(texts, padding=is_padded), gpt2(texts)
"""),
        # It is passed at loading, added, or set by another method.
        Good("""\
from transformers import AutoTokenizer

class Batches:
    def __init__(self):
        self.first = AutoTokenizer.from_pretrained("gpt2", pad_token="<|endoftext|>")
        self.second = AutoTokenizer.from_pretrained("gpt2")
        self.third = AutoTokenizer.from_pretrained("gpt2")

    def setup(self):
        self.second.add_special_tokens({"pad_token": "[PAD]"})
        self.third.pad_token_id = self.third.eos_token_id
        setattr(self.first, "pad_token", "!")

    def encode(self, texts):
        return [one(texts, padding=True) for one in (self.first, self.second, self.third)]
"""),
        # Code that is not seen may set it; so do TRL's trainers.
        Good("""\
from company import prepare
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTTrainer

first = AutoTokenizer.from_pretrained("gpt2")
prepare(first)
print(first(["a", "b c"], padding=True))
second = AutoTokenizer.from_pretrained("gpt2")
trainer = SFTTrainer(AutoModelForCausalLM.from_pretrained("gpt2"), train_dataset=[], processing_class=second)
print(second(["a", "b c"], padding=True))
"""),
        # One of two checkpoints may be meant, and one of them has a token.
        Good("""\
import sys
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2" if len(sys.argv) > 1 else "bert-base-uncased")
print(tokenizer(["a", "b c"], padding=True))
other = AutoTokenizer.from_pretrained("gpt2")
other.pad_token = other.pad_token or other.eos_token
print(other(["a", "b c"], padding="longest"))
"""),
        # Another library's `pad`.
        Good("""\
import torch

rows = [torch.ones(3), torch.ones(5)]
print(torch.nn.functional.pad(rows[0], (0, 2)), torch.nn.Conv1d(1, 1, 3, padding=1))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        found = {one.call.record.id: one for one in facts.paddings() if one.has_pad_token is NO}
        calls = [one.call for one in found.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda _: True, in_this_module=True):
            padding = found[call.record.id]
            load, name = padding.load_place, padding.tokenizer_text
            checkpoint = padding.tokenizer.name if padding.tokenizer is not None else "the tokenizer"
            yield self.report(
                place,
                f"the tokenizer of `{checkpoint}` has no pad token",
                severity=None if padding.is_certain else Severity.WARNING,
                related=[(load, "loaded here")] if load is not None else (),
                help="set one after the tokenizer is loaded",
                fix=[InsertAfter(load.range, f"{name}.pad_token = {name}.eos_token")]
                if load is not None and name
                else (),
                fix_message="pad with the end-of-text token",
            )
