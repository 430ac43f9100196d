import torch
from config import LIMITS
from transformers import AutoModel, AutoTokenizer

NAME = "bert-base-uncased"
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModel.from_pretrained(NAME).eval()

@torch.no_grad()
def embed(texts):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=LIMITS["tokens"], return_tensors="pt")  # <- LLM116 LLM107
    return model(**batch).last_hidden_state[:, 0]

print(embed(open("texts.txt").read().split("\n")).shape)
