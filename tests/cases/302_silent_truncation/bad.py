import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").eval()


def perplexity(text):
    encoded = tokenizer(text, return_tensors="pt", truncation=True, max_length=1024)  # EXPECT: silent_truncation
    with torch.no_grad():
        loss = model(**encoded, labels=encoded["input_ids"]).loss
    return torch.exp(loss).item()


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as handle:
        print(name, perplexity(handle.read()))
