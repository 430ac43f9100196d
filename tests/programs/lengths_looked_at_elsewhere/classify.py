import sys

import torch
from nlp.encode import encode
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "distilbert-base-uncased-finetuned-sst-2-english"


def main():
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME).eval()
    with torch.no_grad():
        logits = model(**encode(tokenizer, sys.stdin.read().splitlines())).logits
    print(logits.argmax(-1).tolist())


if __name__ == "__main__":
    main()
