import math
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def perplexity(model_id, path, window=1024):
    tokenizer = AutoTokenizer.from_pretrained(model_id)
    model = AutoModelForCausalLM.from_pretrained(model_id)
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    ids = tokenizer(text, return_tensors="pt").input_ids
    total, count = 0.0, 0
    for piece in ids.split(window, dim=1):
        if piece.size(1) < 2:
            continue
        total += model(piece, labels=piece).loss.item() * (piece.size(1) - 1)
        count += piece.size(1) - 1
    return math.exp(total / count)


print(perplexity("gpt2", sys.argv[1]))
