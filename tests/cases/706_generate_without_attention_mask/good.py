import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, MPNetModel

NAME = "microsoft/mpnet-base"


@torch.no_grad()
def embed(sentences, size=32):
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = MPNetModel.from_pretrained(NAME).eval()
    found = []
    for start in range(0, len(sentences), size):
        batch = tokenizer(sentences[start : start + size], padding=True, return_tensors="pt")
        states = model(batch["input_ids"], batch["attention_mask"]).last_hidden_state
        found.append(states[:, 0])
    return torch.cat(found)


def translate(sentences):
    tokenizer = AutoTokenizer.from_pretrained("Helsinki-NLP/opus-mt-en-de")
    model = AutoModelForSeq2SeqLM.from_pretrained("Helsinki-NLP/opus-mt-en-de")
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    return tokenizer.batch_decode(model.generate(batch["input_ids"], max_new_tokens=64), skip_special_tokens=True)
