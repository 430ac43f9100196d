import json
import sys

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer


@torch.no_grad()
def predictions(model, tokenizer, lines):
    for line in lines:
        encoded = tokenizer(line, return_tensors="pt")
        yield line, model(**encoded).logits.argmax(-1)[0].tolist()


def main():
    tokenizer = AutoTokenizer.from_pretrained("dslim/bert-base-NER")
    model = AutoModelForTokenClassification.from_pretrained("dslim/bert-base-NER")
    found = predictions(model, tokenizer, sys.stdin)
    for line, tags in found:
        json.dump({"text": line.strip(), "tags": tags}, sys.stdout)
        print()


if __name__ == "__main__":
    main()
