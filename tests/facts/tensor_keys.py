"""What a dictionary or set has for keys."""
from collections import defaultdict

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from things import settings, texts

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
ids = tokenizer(texts, return_tensors="pt")["input_ids"]
counts, known, seen = defaultdict(int), {}, set()
known[ids] = 1  # fact: is tensor yes
seen.add(ids[0])  # fact: is tensor yes
for row in ids:
    known[row] = 1  # fact: is tensor yes
    for token in row:
        counts[token] += 1  # fact: is tensor yes
        counts[token.long()] += 1  # fact: is tensor yes
    for token in row.tolist():
        counts[token] += 1  # fact: is tensor no
for token in ids[0].tolist():
    counts[token] += 1  # fact: is tensor no
for token in tokenizer(texts)["input_ids"]:
    counts[token] += 1  # fact: is tensor unknown
for token in tokenizer(texts, return_tensors=settings.kind)["input_ids"]:
    counts[token] += 1  # fact: is tensor unknown
for key in tokenizer(texts, return_tensors="pt"):
    known[key] = 1  # fact: is tensor unknown
for parameter in model.parameters():
    known[parameter] = 1  # fact: is tensor unknown
known[model(ids).logits.argmax(-1)] = 1  # fact: is tensor yes
known[settings.key(ids)] = 1  # fact: is tensor unknown
torch.zeros(3)[ids] = 1  # fact: untold is tensor
settings.table[ids] = 1  # fact: untold is tensor
