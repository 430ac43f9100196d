"""LLM316 tensor-as-key."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, Severity


class TensorAsKey(Rule):
    """Two equal tensors are two keys: a dictionary or set of tensors never finds what is in it.

    A tensor is hashed by its identity, not by its value. Every element that a loop over a tensor gives, every `argmax`, is a
    new object: a counter counts each token once, a cache never has a hit and only grows, a set of seen ids lets everything
    through. Nothing is raised, and the tensors stay on the GPU as long as the dictionary does.

    Take the number: `token.item()`, `tuple(ids.tolist())`, or a loop over `ids.tolist()`.

    Reported are keys of dictionaries and members of sets that certainly are tensors: ids of a tokenizer that returns tensors,
    what a model gives or generates, tensors that the program makes, and elements of these. Parameters as keys, which programs
    tell apart by identity on purpose, are left alone.
    """

    code = "LLM316"
    severity = Severity.ERROR
    triggers = ("defaultdict", "Counter", "= {}", "dict()", "set()")
    bad = [
        Bad("""\
from collections import defaultdict

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")

def count(texts):
    counts = defaultdict(int)
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"][0]
        for token in ids:
            counts[token] += 1  # <- `token` is a tensor: each one is a new key of `counts`
    return counts
"""),
        # A cache of a class, by a helper; a set.
        Bad("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Cached:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")
        self.model = AutoModelForCausalLM.from_pretrained("gpt2")
        self.cache = {}
        self.seen = set()

    def ids(self, text):
        return self.tokenizer(text, return_tensors="pt").input_ids

    @torch.no_grad()
    def scores(self, text):
        ids = self.ids(text)
        if ids in self.cache:
            return self.cache[ids]
        logits = self.model(ids).logits
        self.cache[ids] = logits  # <- `ids` is a tensor: each one is a new key of `self.cache`
        best = logits[0, -1].argmax()
        self.seen.add(best)  # <- `best` is a tensor
        return logits
"""),
        # Probabilities between the scores and the best; functions instead of methods.
        Bad("""\
from collections import Counter

import torch
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")

@torch.no_grad()
def count(loader):
    counts, found = Counter(), {}
    for batch in loader:
        scores = model(**batch).logits
        best = scores.softmax(dim=-1).argmax(dim=-1)[0]
        counts[best] += 1  # <- `best` is a tensor
        found[torch.argmax(torch.softmax(scores, dim=-1))] = batch  # <- is a tensor
    return counts, found
"""),
        # A notebook.
        Bad(
            {
                "count.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM\n\n"
                        "model = AutoModelForCausalLM.from_pretrained('gpt2')\nfound = {}"
                    ),
                    (
                        "for batch in batches:\n    out = model.generate(**batch, max_new_tokens=5)\n"
                        "    for row in out:\n        found[row] = True  # <- `row` is a tensor"
                    ),
                ]
            }
        ),
    ]
    good = [
        Good("""\
from collections import defaultdict

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")

def count(texts):
    counts, rows = defaultdict(int), {}
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"][0]
        for token in ids.tolist():
            counts[token] += 1
        for token in ids:
            counts[token.item()] += 1
            counts[int(token)] += 1
        rows[tuple(ids.tolist())] = text
        rows[ids.float().softmax(-1).argmax().item()] = text
        for token in tokenizer(text)["input_ids"]:
            counts[token] += 1
    return counts, rows
"""),
        # By identity, on purpose.
        Good("""\
import torch

def momentum(model):
    state, seen = {}, set()
    for parameter in model.parameters():
        state[parameter] = torch.zeros_like(parameter)
        seen.add(parameter)
    return state, seen
"""),
        # What takes a tensor as an index: a tensor, an array, an encoding, something unknown.
        Good("""\
import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from stores import store

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

@torch.no_grad()
def mark(text, table):
    known = {}
    ids = tokenizer(text, return_tensors="pt").input_ids
    best = model(ids).logits.argmax(-1)
    counts = torch.zeros(50257)
    counts[ids] += 1
    table[best] = 1
    store[ids] = best
    labels = ids.clone()
    labels[best == 0] = -100
    known[text] = best
    return counts, labels, known, np.zeros(3)
"""),
        # Keys of a loader's batch, and of an encoding.
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")

def moved(texts, device):
    found = {}
    for key, value in tokenizer(texts, return_tensors="pt").items():
        found[key] = value.to(device)
    for name in tokenizer(texts, return_tensors="pt"):
        found[name] = None
    return found
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for key in facts.tensor_keys():
            if key.is_tensor is YES:
                yield self.report(
                    key.place,
                    f"`{key.key}` is a tensor: each one is a new key of `{key.container}`, whatever its value",
                    help="take its value with `.item()` or `.tolist()`",
                )
