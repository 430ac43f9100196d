"""LLM107 truncation-unchecked."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Call, Change, EnsureImport, Facts, Good, InsertAfter, Report, Rule, Severity


class TruncationUnchecked(Rule):
    """Text is cut to a maximum length, and nothing looks at how long it was.

    A tokenizer that truncates says nothing: the end of the document, which often holds the question or the answer, is
    gone, and the scores fall for no visible reason. `max_length` alone, with neither `truncation` nor `padding`,
    truncates as well.

    Any of these shows that somebody looks, and silences the rule: the length, of the text or of its ids, is compared,
    printed or logged; the rest is kept by `return_overflowing_tokens=True` or a `stride`; the text was split, counted
    or cut (`text[:2000]`) before. The rule is also silent on texts that the program itself holds, where the ids are
    returned to a caller that is not seen, and where such a caller must say what the limit is.

    In training, cutting is often meant: there the rule only informs. Where the text goes to a model that nobody trains
    with it (a user's document, a prompt, a test set), it warns, and the fix adds a warning of its own for texts that
    reach the limit.
    """

    code = "LLM107"
    severity = Severity.WARNING
    triggers = ("truncation", "max_length")
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = AutoModel.from_pretrained("roberta-base")

@torch.no_grad()
def embed(document):
    inputs = tokenizer(document, truncation=True, max_length=512, return_tensors="pt")  # <- cut to 512 tokens
    return model(**inputs).last_hidden_state[0, 0].tolist()
""",
            fixed="""\
import warnings

import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = AutoModel.from_pretrained("roberta-base")

@torch.no_grad()
def embed(document):
    inputs = tokenizer(document, truncation=True, max_length=512, return_tensors="pt")
    if inputs["attention_mask"].sum(-1).max() >= 512:
        warnings.warn("a text reaches the limit of 512 tokens and may have been cut", stacklevel=2)
    return model(**inputs).last_hidden_state[0, 0].tolist()
""",
        ),
        # How many texts there are says nothing about how long they are; the mask that pools is no look at lengths either.
        Bad(
            """\
import warnings

import torch
from transformers import AutoModel, AutoTokenizer

class Encoder:
    def __init__(self, name="BAAI/bge-small-en-v1.5", limit=256):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to("cuda")
        self.limit = limit

    @torch.inference_mode()
    def encode(self, passages):
        texts = [f"passage: {passage}" for passage in passages]
        print(len(texts), "passages")
        batch = self.tokenizer(
            texts,
            padding=True,
            truncation=True,  # <- cut to 256 tokens
            max_length=self.limit,
            return_tensors="pt",
        ).to("cuda")
        hidden = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        return ((hidden * mask).sum(1) / mask.sum(1)).cpu().numpy()
""",
            fixed="""\
import warnings

import torch
from transformers import AutoModel, AutoTokenizer

class Encoder:
    def __init__(self, name="BAAI/bge-small-en-v1.5", limit=256):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to("cuda")
        self.limit = limit

    @torch.inference_mode()
    def encode(self, passages):
        texts = [f"passage: {passage}" for passage in passages]
        print(len(texts), "passages")
        batch = self.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=self.limit,
            return_tensors="pt",
        ).to("cuda")
        if batch["attention_mask"].sum(-1).max() >= self.limit:
            warnings.warn(f"a text reaches the limit of {self.limit} tokens and may have been cut", stacklevel=2)
        hidden = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        return ((hidden * mask).sum(1) / mask.sum(1)).cpu().numpy()
""",
        ),
        # `max_length` alone cuts too, and the limit of the tokenizer itself does.
        Bad(
            """\
from transformers import GPT2LMHeadModel, GPT2Tokenizer

tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
with open("prompt.txt", encoding="utf-8") as handle:
    prompt = handle.read()
ids = tokenizer.encode(prompt, return_tensors="pt", max_length=768)  # <- cut to 768 tokens
print(tokenizer.decode(model.generate(ids, max_new_tokens=50)[0]))
for question in open("questions.txt", encoding="utf-8"):
    inputs = tokenizer(question, truncation=True, return_tensors="pt")  # <- cut to `tokenizer.model_max_length`
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=50)[0]))
""",
            fixed="""\
import warnings

from transformers import GPT2LMHeadModel, GPT2Tokenizer

tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
with open("prompt.txt", encoding="utf-8") as handle:
    prompt = handle.read()
ids = tokenizer.encode(prompt, return_tensors="pt", max_length=768)
if ids.shape[-1] >= 768:
    warnings.warn("a text reaches the limit of 768 tokens and may have been cut", stacklevel=2)
print(tokenizer.decode(model.generate(ids, max_new_tokens=50)[0]))
for question in open("questions.txt", encoding="utf-8"):
    inputs = tokenizer(question, truncation=True, return_tensors="pt")
    if inputs["attention_mask"].sum(-1).max() >= tokenizer.model_max_length:
        warnings.warn(f"a text reaches the limit of {tokenizer.model_max_length} tokens and may have been cut", stacklevel=2)
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=50)[0]))
""",
        ),
        # Nothing to hang a check on: no fix.
        Bad("""\
import torch
from fastapi import FastAPI
from transformers import AutoModelForSequenceClassification, AutoTokenizer

LIMITS = {"padding": True, "truncation": True, "max_length": 256, "return_tensors": "pt"}
app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("ProsusAI/finbert")
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert").eval()

@app.post("/tone")
def tone(text: str):
    with torch.no_grad():
        logits = model(**tokenizer(text, **LIMITS)).logits  # <- cut to 256 tokens
    return {"tone": model.config.id2label[int(logits.argmax())]}
"""),
        Bad(
            {
                "rerank.ipynb": [
                    """\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-reranker-base")
model = AutoModelForSequenceClassification.from_pretrained("BAAI/bge-reranker-base")
""",
                    """\
pairs = [line.rstrip().split("\\t") for line in open("pairs.tsv")]
with torch.no_grad():
    for pair in pairs:
        inputs = tokenizer(pair[0], pair[1], truncation=True, max_length=400, return_tensors="pt")  # <- cut
        print(model(**inputs).logits)
""",
                ]
            },
            fixed={
                "rerank.ipynb": [
                    """import warnings

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-reranker-base")
model = AutoModelForSequenceClassification.from_pretrained("BAAI/bge-reranker-base")
""",
                    """pairs = [line.rstrip().split("\\t") for line in open("pairs.tsv")]
with torch.no_grad():
    for pair in pairs:
        inputs = tokenizer(pair[0], pair[1], truncation=True, max_length=400, return_tensors="pt")
        if inputs["attention_mask"].sum(-1).max() >= 400:
            warnings.warn("a text reaches the limit of 400 tokens and may have been cut", stacklevel=2)
        print(model(**inputs).logits)
""",
                ]
            },
        ),
        # A pipeline tokenizes by itself.
        Bad("""\
import sys

from transformers import pipeline

summarize = pipeline("summarization", model="facebook/bart-large-cnn")

def main(path):
    with open(path, encoding="utf-8") as handle:
        article = handle.read()
    print(summarize(article, truncation=True)[0]["summary_text"])  # <- cut to the model's limit

if __name__ == "__main__":
    main(sys.argv[1])
"""),
        # Training data is often cut on purpose: information.
        Bad(
            """\
from functools import partial

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

def tokenize(batch, tokenizer, limit):
    return tokenizer(batch["text"], truncation=True, max_length=limit, padding="max_length")  # <- cut to 256 tokens

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
dataset = load_dataset("imdb").map(partial(tokenize, tokenizer=tokenizer, limit=256), batched=True)
print(len(dataset["train"]), "reviews")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
Trainer(model=model, args=TrainingArguments("out"), train_dataset=dataset["train"]).train()
""",
            severity=Severity.INFORMATION,
        ),
        Bad(
            """\
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertForSequenceClassification, BertTokenizer

class Reviews(Dataset):
    def __init__(self, frame, tokenizer, limit):
        self.frame, self.tokenizer, self.limit = frame, tokenizer, limit

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        row = self.frame.iloc[index]
        encoded = self.tokenizer.encode_plus(
            row.text,
            max_length=self.limit,
            truncation=True,  # <- cut to 160 tokens
            padding="max_length",
            return_tensors="pt",
        )
        return {"input_ids": encoded["input_ids"].flatten(), "labels": torch.tensor(row.label)}

def train(frame):
    torch.manual_seed(0)
    tokenizer = BertTokenizer.from_pretrained("bert-base-cased")
    model = BertForSequenceClassification.from_pretrained("bert-base-cased")
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in DataLoader(Reviews(frame, tokenizer, 160), batch_size=16, shuffle=True):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
            severity=Severity.INFORMATION,
        ),
    ]
    good = [
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")

def windows(document):
    return tokenizer(document, truncation=True, max_length=512, stride=64, return_overflowing_tokens=True)
"""),
        # The length is compared before, in a function of its own.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

class Encoder:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
        self.model = AutoModel.from_pretrained("bert-base-cased")

    def fits(self, text):
        return len(self.tokenizer.encode(text)) <= 512

    @torch.no_grad()
    def embed(self, text):
        if not self.fits(text):
            raise ValueError("at most 512 tokens are read")
        inputs = self.tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
        return self.model(**inputs).pooler_output
"""),
        # It is compared afterwards.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

@torch.no_grad()
def embed(text):
    inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
    if inputs.input_ids.shape[1] == 512:
        raise ValueError("the text is too long")
    return model(**inputs).pooler_output
"""),
        # It is logged, counted by the mask.
        Good("""\
import logging

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

logger = logging.getLogger(__name__)
tokenizer = AutoTokenizer.from_pretrained("roberta-large-mnli")
model = AutoModelForSequenceClassification.from_pretrained("roberta-large-mnli")
for line in open("claims.txt", encoding="utf-8"):
    inputs = tokenizer(line, truncation=True, max_length=128, return_tensors="pt")
    logger.info("%d tokens", inputs["attention_mask"].sum())
    with torch.no_grad():
        print(model(**inputs).logits.argmax(-1).item())
"""),
        # The lengths of the whole data set were looked at before the limit was chosen.
        Good("""\
import numpy as np
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
dataset = load_dataset("imdb")
lengths = [len(tokenizer.encode(text)) for text in dataset["train"]["text"]]
print(np.percentile(lengths, [50, 90, 99]))
dataset = dataset.map(lambda row: tokenizer(row["text"], truncation=True, max_length=256), batched=True)
Trainer(model=AutoModelForSequenceClassification.from_pretrained("bert-base-cased"), train_dataset=dataset["train"]).train()
"""),
        # The caller is told.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

def embed(text):
    inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
    used = inputs["input_ids"].numel()
    with torch.no_grad():
        vector = model(**inputs).pooler_output
    return {"vector": vector.tolist(), "usage": {"tokens": used}}
"""),
        # Rows that are too long were left out.
        Good("""\
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer

tokenizer = AutoTokenizer.from_pretrained("gpt2")

def count(row):
    return {"tokens": len(tokenizer(row["text"]).input_ids)}

def encode(row):
    return tokenizer(row["text"], truncation=True, max_length=1024)

rows = load_dataset("text", split="train").map(count).filter(lambda row: row["tokens"] <= 1024).map(encode)
Trainer(model=AutoModelForCausalLM.from_pretrained("gpt2"), train_dataset=rows).train()
"""),
        # Split by words, and truncated as a belt beside the braces.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

def pieces(document, size=200):
    words = document.split()
    for start in range(0, len(words), size):
        yield " ".join(words[start : start + size])

@torch.no_grad()
def embed(document):
    vectors = []
    for piece in pieces(document):
        inputs = tokenizer(piece, truncation=True, max_length=512, return_tensors="pt")
        vectors.append(model(**inputs).pooler_output)
    return torch.cat(vectors)
"""),
        # Split by tokens.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

@torch.no_grad()
def embed(text):
    tokens = tokenizer.tokenize(text)
    vectors = []
    for start in range(0, len(tokens), 510):
        piece = tokenizer.convert_tokens_to_string(tokens[start : start + 510])
        inputs = tokenizer(piece, truncation=True, max_length=512, return_tensors="pt")
        vectors.append(model(**inputs).pooler_output)
    return torch.cat(vectors)
"""),
        # Split by a library.
        Good("""\
import nltk
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("ProsusAI/finbert")
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert")

def tones(document):
    sentences = nltk.sent_tokenize(document)
    inputs = tokenizer(sentences, truncation=True, max_length=128, padding=True, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs).logits.argmax(-1).tolist()
"""),
        # Cut by characters on purpose, in plain sight.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

@torch.no_grad()
def embed(title):
    inputs = tokenizer(title[:200], truncation=True, max_length=64, return_tensors="pt")
    return model(**inputs).pooler_output
"""),
        # The service refuses what is longer.
        Good("""\
import torch
from fastapi import FastAPI
from pydantic import BaseModel, Field
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased").eval()
app = FastAPI()

class Query(BaseModel):
    text: str = Field(max_length=300)

@app.post("/embed")
def embed(query: Query):
    inputs = tokenizer(query.text, truncation=True, max_length=512, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs).pooler_output.tolist()
"""),
        # Texts that the program itself holds.
        Good("""\
import torch
from transformers import CLIPModel, CLIPTokenizer

LABELS = ["a photo of a cat", "a photo of a dog"]
tokenizer = CLIPTokenizer.from_pretrained("openai/clip-vit-base-patch32")
model = CLIPModel.from_pretrained("openai/clip-vit-base-patch32")
inputs = tokenizer(LABELS, truncation=True, max_length=77, padding=True, return_tensors="pt")
with torch.no_grad():
    print(model.get_text_features(**inputs))
"""),
        # With `padding` and without `truncation`, nothing is cut.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

@torch.no_grad()
def embed(text):
    return model(**tokenizer(text, padding="max_length", max_length=512, return_tensors="pt")).pooler_output
"""),
        # The ids go to a caller that is not seen, and that may look.
        Good("""\
from torch.utils.data import Dataset
from transformers import AutoTokenizer

class Pairs(Dataset):
    def __init__(self, rows, name, limit):
        self.rows, self.limit = rows, limit
        self.tokenizer = AutoTokenizer.from_pretrained(name)

    def __getitem__(self, index):
        encoded = self.tokenizer(self.rows[index], truncation=True, max_length=self.limit, return_tensors="pt")
        return {name: value.squeeze(0) for name, value in encoded.items()}
"""),
        # The limit is one that the caller must give.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")

@torch.no_grad()
def embed(texts, max_length):
    inputs = tokenizer(texts, padding=True, truncation=True, max_length=max_length, return_tensors="pt")
    return model(**inputs).pooler_output
"""),
        # Whether it truncates is the user's choice.
        Good("""\
import argparse

import torch
from transformers import AutoModel, AutoTokenizer

parser = argparse.ArgumentParser()
parser.add_argument("--truncate", action="store_true")
arguments = parser.parse_args()
tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModel.from_pretrained("bert-base-cased")
for line in open("lines.txt", encoding="utf-8"):
    with torch.no_grad():
        print(model(**tokenizer(line, truncation=arguments.truncate, max_length=512, return_tensors="pt")).pooler_output)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for call in facts.tokenizations():
            place = call.cuts_text
            if place is None or call.passes("return_overflowing_tokens", "stride", "return_length") is not NO:
                continue
            if call.text_is_written_here or call.limit_is_asked_for or call.is_in_a_test:
                continue
            if call.length_is_examined is not NO:
                continue
            is_inference = call.prepares_training is NO
            yield self.report(
                place,
                f"text is cut to {_limit(call)} and nobody looks at its length",
                severity=None if is_inference else Severity.INFORMATION,
                help="compare the length with the limit, or keep the rest with `return_overflowing_tokens=True`",
                fix=_warning(call) if is_inference else [],
                fix_message="Warn when a text reaches the limit",
            )


def _limit(call: Call) -> str:
    limit = call.argument("max_length")
    if call.is_of_a_pipeline:
        return "the model's limit"
    if limit is not None and limit.constant is not None:
        return f"{limit.constant} tokens"
    return f"`{call.limit}`" if call.limit is not None else "`max_length`"


def _warning(call: Call) -> list[Change]:
    """A check after the statement, where the result has a name and is a tensor, so that one line can count its tokens."""
    name, limit, tensors = call.result_name, call.limit, call.argument("return_tensors")
    if name is None or limit is None or tensors is None or tensors.constant not in {"pt", "np"}:
        return []
    if call.name == "apply_chat_template" or call.is_of_a_pipeline or call.passes("return_attention_mask") is not NO:
        return []
    length = f"{name}.shape[-1]" if call.name == "encode" else f'{name}["attention_mask"].sum(-1).max()'
    reached = f"a text reaches the limit of {limit} tokens and may have been cut"
    text = f'"{reached}"' if limit.isdigit() else 'f"' + reached.replace(limit, "{" + limit + "}") + '"'
    check = f"if {length} >= {limit}:\n    warnings.warn({text}, stacklevel=2)"
    return [EnsureImport("warnings"), InsertAfter(call.place.range, check)]
