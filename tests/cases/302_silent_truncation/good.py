import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

WINDOW = 1024
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").eval()


def perplexity(text):
    ids = tokenizer(text, return_tensors="pt").input_ids
    losses = []
    for start in range(0, ids.shape[1] - 1, WINDOW):
        window = ids[:, start : start + WINDOW]
        with torch.no_grad():
            losses.append(model(window, labels=window).loss)
    return torch.exp(torch.stack(losses).mean()).item()


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as handle:
        print(name, perplexity(handle.read()))
