"""LLM104 tokens-added-without-resize."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Good, InsertAfter, Report, Rule, Severity


class TokensAddedWithoutResize(Rule):
    """Tokens are added to a tokenizer, and the model that gets its ids has no embeddings for them.

    A new token's id is the number of tokens before it, one beyond the last row of the embedding matrix. The first text
    that holds it raises an `IndexError` on the CPU and a device-side assert on a GPU, often hours into a run. After
    tokens are added call `model.resize_token_embeddings(len(tokenizer))`.

    Tokenizer and model are paired by what the program does with them. Many checkpoints have more rows than tokens (Qwen,
    Pythia, OPT, Phi): nothing is said while the rows suffice, nor where the sizes of a checkpoint are not known, such as of
    one that was resized and saved, where a token is likely in the vocabulary already, where something unknown may have
    resized the model, and of a pad token that nothing is padded with.

    The message quotes the sizes where files confirm them; else it is a warning.
    """

    code = "LLM104"
    severity = Severity.ERROR
    triggers = ("add_tokens(", "special_tokens", "bos_token=", "sep_token=", "pad_token=", "cls_token=", "mask_token=")
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|bot|>"]})  # <- 50,259 tokens
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("<|user|>Hello<|bot|>", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0]))
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|bot|>"]})
model = AutoModelForCausalLM.from_pretrained("gpt2")
model.resize_token_embeddings(len(tokenizer))
inputs = tokenizer("<|user|>Hello<|bot|>", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0]))
""",
        ),
        # The trainer gets the tokenizer by its dataset and collator; what is added is not seen.
        Bad(
            """\
from transformers import AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer

def adapt(dataset, words, arguments):
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    tokenizer.add_tokens(words)  # <- and model `bert-base-uncased` has 30,522 rows
    encoded = dataset.map(lambda row: tokenizer(row["text"]))
    collator = DataCollatorForLanguageModeling(tokenizer)
    Trainer(model=model, args=arguments, train_dataset=encoded, data_collator=collator).train()
""",
            fixed="""\
from transformers import AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer

def adapt(dataset, words, arguments):
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    tokenizer.add_tokens(words)
    model.resize_token_embeddings(len(tokenizer))
    encoded = dataset.map(lambda row: tokenizer(row["text"]))
    collator = DataCollatorForLanguageModeling(tokenizer)
    Trainer(model=model, args=arguments, train_dataset=encoded, data_collator=collator).train()
""",
        ),
        # A pad token that is padded with; one object holds both.
        Bad("""\
from transformers import GPT2LMHeadModel, GPT2Tokenizer

class Writer:
    def __init__(self):
        self.tokenizer = GPT2Tokenizer.from_pretrained("distilgpt2", padding_side="left")
        if self.tokenizer.pad_token is None:
            self.tokenizer.add_special_tokens({"pad_token": "[PAD]"})  # <- 50,258 tokens, and model `distilgpt2`
        self.model = GPT2LMHeadModel.from_pretrained("distilgpt2")

    def write(self, prompts):
        batch = self.tokenizer(prompts, padding=True, return_tensors="pt")
        return self.tokenizer.batch_decode(self.model.generate(**batch, max_new_tokens=40))
"""),
        # A dictionary that is filled item by item; the config is the checkpoint's own but for what matters here.
        Bad(
            """\
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
special = {}
special["pad_token"] = "[PAD]"
special["additional_special_tokens"] = ["<|user|>"]
tokenizer.add_special_tokens(special)  # <- 50,259 tokens, and model `gpt2` has 50,257 rows
config = AutoConfig.from_pretrained("gpt2")
config.use_cache = False
model = AutoModelForCausalLM.from_pretrained("gpt2", config=config)
batch = tokenizer(["<|user|>Hello", "<|user|>Good morning"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=20)))
""",
            fixed="""\
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
special = {}
special["pad_token"] = "[PAD]"
special["additional_special_tokens"] = ["<|user|>"]
tokenizer.add_special_tokens(special)
config = AutoConfig.from_pretrained("gpt2")
config.use_cache = False
model = AutoModelForCausalLM.from_pretrained("gpt2", config=config)
model.resize_token_embeddings(len(tokenizer))
batch = tokenizer(["<|user|>Hello", "<|user|>Good morning"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=20)))
""",
        ),
        # Another module loads the model.
        Bad(
            {
                "vocabulary.py": """\
from transformers import AddedToken, AutoTokenizer

def chat_tokenizer(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_tokens([AddedToken("<turn>", special=True), "<end-of-turn>"])  # <- 50,267 tokens
    return tokenizer
""",
                "train.py": """\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer
from vocabulary import chat_tokenizer

BASE = "roberta-base"

def main(dataset, arguments):
    tokenizer = chat_tokenizer(BASE)
    model = AutoModelForCausalLM.from_pretrained(BASE)
    Trainer(model=model, args=arguments, train_dataset=dataset, processing_class=tokenizer).train()
""",
            }
        ),
        # The load adds what it is given and does not find.
        Bad(
            """\
from transformers import GPT2LMHeadModel, GPT2Tokenizer

def poem(line):
    tokenizer = GPT2Tokenizer.from_pretrained("gpt2", bos_token="<|verse|>", pad_token="<|pad|>")  # <- 50,259 tokens
    model = GPT2LMHeadModel.from_pretrained("gpt2").to("cuda")
    inputs = tokenizer("<|verse|>" + line, return_tensors="pt").to("cuda")
    return tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0])
""",
            fixed="""\
from transformers import GPT2LMHeadModel, GPT2Tokenizer

def poem(line):
    tokenizer = GPT2Tokenizer.from_pretrained("gpt2", bos_token="<|verse|>", pad_token="<|pad|>")
    model = GPT2LMHeadModel.from_pretrained("gpt2").to("cuda")
    model.resize_token_embeddings(len(tokenizer))
    inputs = tokenizer("<|verse|>" + line, return_tensors="pt").to("cuda")
    return tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0])
""",
        ),
        # Sizes that no file confirms are not quoted, and then it is a warning.
        Bad(
            {
                "chat.ipynb": [
                    """\
from transformers import AutoModelForCausalLM, AutoTokenizer
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("bigcode/starcoder")
tokenizer.add_tokens(["<|system|>", "<|assistant|>"])  # <- tokens are added to tokenizer `bigcode/starcoder`
""",
                    """\
model = AutoModelForCausalLM.from_pretrained("bigcode/starcoder")
print(model.generate(**tokenizer("<|system|>", return_tensors="pt"), max_new_tokens=9))
""",
                ]
            },
            fixed={
                "chat.ipynb": [
                    """\
from transformers import AutoModelForCausalLM, AutoTokenizer
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("bigcode/starcoder")
tokenizer.add_tokens(["<|system|>", "<|assistant|>"])
""",
                    """\
model = AutoModelForCausalLM.from_pretrained("bigcode/starcoder")
model.resize_token_embeddings(len(tokenizer))
print(model.generate(**tokenizer("<|system|>", return_tensors="pt"), max_new_tokens=9))
""",
                ]
            },
            severity=Severity.WARNING,
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
if tokenizer.add_tokens(["<|user|>", "<|bot|>"]) > 0:
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=8)
inputs = tokenizer("<|user|>Hello<|bot|>", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0]))
"""),
        # Padded vocabularies have rows to spare.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

for name in ("Qwen/Qwen2.5-0.5B", "EleutherAI/pythia-70m"):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|bot|>"]})
    model = AutoModelForCausalLM.from_pretrained(name)
    print(model.generate(**tokenizer("<|user|>Hello", return_tensors="pt"), max_new_tokens=20))
"""),
        # Nothing new: the tokens are the vocabulary's own, or the pad token is another one by name.
        Good("""\
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_special_tokens({"pad_token": tokenizer.eos_token})
tokenizer.add_tokens([])
plain = AutoTokenizer.from_pretrained("gpt2", pad_token="<|endoftext|>", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("gpt2")
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=20))
print(model.generate(**plain(["Hello", "Bye now"], padding=True, return_tensors="pt"), max_new_tokens=20))
bert = AutoTokenizer.from_pretrained("bert-base-uncased")
bert.add_special_tokens({"pad_token": "[PAD]", "mask_token": "[MASK]"})
if bert.pad_token is None:
    bert.add_special_tokens({"pad_token": "<|filler|>"})
with open("ids.txt", "w", encoding="utf-8") as handle:
    handle.write(str(AutoModel.from_pretrained("bert-base-uncased").generate(**bert("Hello", return_tensors="pt"))))
"""),
        # A pad token that nothing is padded with.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_special_tokens({"pad_token": "[PAD]"})
model = AutoModelForCausalLM.from_pretrained("gpt2")
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=20))
"""),
        # A checkpoint of their own, saved with the tokens and the rows; a name that only the user knows.
        Good("""\
import sys

from transformers import AutoModelForCausalLM, AutoTokenizer

for name in ("our-team/gpt2-chat", sys.argv[1]):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_tokens(["<|user|>", "<|bot|>"])
    model = AutoModelForCausalLM.from_pretrained(name)
    print(model.generate(**tokenizer("<|user|>Hello", return_tensors="pt"), max_new_tokens=20))
"""),
        # A helper resizes, seen or not; weights are loaded that were resized; a part is replaced by hand.
        Good("""\
import torch
from project import fit_embeddings
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import setup_chat_format

def extend(tokenizer, model):
    added = tokenizer.add_tokens(["<|user|>", "<|bot|>"])
    rows = model.get_input_embeddings().weight.shape[0]
    model.resize_token_embeddings(rows + added)

def first(text):
    tokenizer, model = AutoTokenizer.from_pretrained("gpt2"), AutoModelForCausalLM.from_pretrained("gpt2")
    extend(tokenizer, model)
    return model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=20)

def second(text):
    tokenizer, model = AutoTokenizer.from_pretrained("gpt2"), AutoModelForCausalLM.from_pretrained("gpt2")
    tokenizer.add_tokens(["<|user|>", "<|bot|>"])
    fit_embeddings(model, tokenizer)
    return model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=20)

def third(text):
    tokenizer, model = AutoTokenizer.from_pretrained("gpt2"), AutoModelForCausalLM.from_pretrained("gpt2")
    tokenizer.add_tokens(["<|user|>", "<|bot|>"])
    model, tokenizer = setup_chat_format(model, tokenizer)
    return model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=20)

def fourth(text):
    tokenizer, model = AutoTokenizer.from_pretrained("gpt2"), AutoModelForCausalLM.from_pretrained("gpt2")
    tokenizer.add_tokens(["<|user|>", "<|bot|>"])
    model.transformer.wte = nn.Embedding(len(tokenizer), 768)
    return model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=20)
"""),
        # The rows are asked for at the load.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_tokens(["<|user|>", "<|bot|>"])
model = AutoModelForCausalLM.from_pretrained("gpt2", vocab_size=len(tokenizer), ignore_mismatched_sizes=True)
print(model.generate(**tokenizer("<|user|>Hello", return_tensors="pt"), max_new_tokens=20))
"""),
        # A tokenizer that only counts, beside a model with its own.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

counter = AutoTokenizer.from_pretrained("gpt2")
counter.add_tokens(["<|user|>", "<|bot|>"])
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def answer(text):
    print(len(counter(text).input_ids))
    return model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=20)
"""),
        # The config may ask for more rows than the checkpoint has.
        Good("""\
from project import settings
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_tokens(["<|user|>"])
inputs = tokenizer("<|user|>Hello", return_tensors="pt")
config = AutoConfig.from_pretrained("gpt2")
config.vocab_size = 50_304
grown = AutoModelForCausalLM.from_pretrained("gpt2", config=config, ignore_mismatched_sizes=True)
print(grown.generate(**inputs, max_new_tokens=20))
wide = AutoConfig.from_pretrained("gpt2", vocab_size=50_304)
made = AutoModelForCausalLM.from_pretrained("gpt2", config=wide)
print(made.generate(**inputs, max_new_tokens=20))
given = AutoModelForCausalLM.from_pretrained("gpt2", config=settings.config)
print(given.generate(**inputs, max_new_tokens=20))
other = AutoModelForCausalLM.from_pretrained("gpt2", config=AutoConfig.from_pretrained("our-team/gpt2-with-room"))
print(other.generate(**inputs, max_new_tokens=20))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for added in facts.added_tokens():
            if added.rows_suffice is not NO:
                continue
            tokenizer, model, sizes = added.tokenizer, added.model, added.sizes
            said = (
                f"tokenizer `{tokenizer.name}` grows to {sizes[0]:,} tokens, and model `{model.name}` has {sizes[1]:,} rows"
                if sizes is not None
                else f"tokens are added to tokenizer `{tokenizer.name}`, and the model's embeddings are not resized"
            )
            fix: list[InsertAfter] = []
            variables = added.variables()
            if variables is not None:
                resize = f"{variables[0]}.resize_token_embeddings(len({variables[1]}))"
                fix = [InsertAfter(variables[2].range, resize)]
            yield self.report(
                added.place,
                said,
                severity=None if sizes is not None else Severity.WARNING,
                related=[(model.load.place, model.said("the model")), (added.meeting_place, "meets the model here")],
                help="resize the model's embeddings to `len(tokenizer)`",
                fix=fix,
            )
