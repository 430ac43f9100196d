import sys

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

import config


def load():
    tokenizer = AutoTokenizer.from_pretrained(config.TOKENIZER_NAME)
    model = AutoModelForTokenClassification.from_pretrained(config.MODEL_NAME, num_labels=len(config.LABELS))
    model.load_state_dict(torch.load("tagger.pt", weights_only=True))
    model.eval()
    return tokenizer, model


def tag(words, tokenizer, model):
    encoded = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        best = model(**encoded).logits.argmax(-1)[0]
    return [config.LABELS[index] for index in best.tolist()]


if __name__ == "__main__":
    parts = load()
    for line in sys.stdin:
        print(tag(line.split(), *parts))
