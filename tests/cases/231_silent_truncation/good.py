import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "cross-encoder/ms-marco-MiniLM-L-6-v2"
LIMIT = 256
TOKENIZE = dict(padding=True, truncation=True, max_length=LIMIT, return_tensors="pt")

tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSequenceClassification.from_pretrained(NAME)


def fits(question: str, passage: str) -> bool:
    return len(tokenizer(question, passage).input_ids) <= LIMIT


@torch.inference_mode()
def rank(question: str, passages: list[str]) -> list[int]:
    short = [passage for passage in passages if fits(question, passage)]
    if len(short) < len(passages):
        print(len(passages) - len(short), "passages are too long and left out", file=sys.stderr)
    batch = tokenizer([question] * len(short), short, **TOKENIZE)
    return model(**batch).logits.squeeze(-1).argsort(descending=True).tolist()


if __name__ == "__main__":
    with open("passages.txt", encoding="utf-8") as handle:
        print(rank(input("question: "), handle.read().split("\n\n")))
