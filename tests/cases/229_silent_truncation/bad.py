import math
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def perplexity(model_id, path):
    tokenizer = AutoTokenizer.from_pretrained(model_id)
    model = AutoModelForCausalLM.from_pretrained(model_id)
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    ids = tokenizer(text, return_tensors="pt", truncation=True, max_length=1024).input_ids  # EXPECT: silent_truncation
    return math.exp(model(ids, labels=ids).loss.item())


print(perplexity("gpt2", sys.argv[1]))
