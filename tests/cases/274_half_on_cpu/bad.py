import sys

import torch
from transformers import BertForSequenceClassification, BertTokenizerFast


def load_model(path, device="cpu"):
    model = BertForSequenceClassification.from_pretrained(path)
    model.to(device)
    model.eval()
    model.half()  # EXPECT: half_on_cpu
    return BertTokenizerFast.from_pretrained(path), model


def main(path, text):
    tokenizer, model = load_model(path)
    with torch.no_grad():
        print(model(**tokenizer(text, return_tensors="pt")).logits.tolist())


if __name__ == "__main__":
    main(*sys.argv[1:3])
