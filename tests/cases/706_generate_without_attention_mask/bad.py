import torch
from transformers import AutoTokenizer, MPNetModel

NAME = "microsoft/mpnet-base"


@torch.no_grad()
def embed(sentences, size=32):
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = MPNetModel.from_pretrained(NAME).eval()
    found = []
    for start in range(0, len(sentences), size):
        batch = tokenizer(sentences[start : start + size], padding=True, return_tensors="pt")
        states = model(batch["input_ids"]).last_hidden_state  # EXPECT
        found.append(states[:, 0])
    return torch.cat(found)
