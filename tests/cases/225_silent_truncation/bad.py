import sys

import torch
from transformers import BertForSequenceClassification, BertTokenizer

LABELS = ["no risk", "risk"]


def main(path):
    tokenizer = BertTokenizer.from_pretrained("nlpaueb/legal-bert-base-uncased")
    model = BertForSequenceClassification.from_pretrained("clauses/checkpoint-900")
    model.eval()
    with open(path, encoding="utf-8") as handle:
        contract = handle.read()
    ids = tokenizer.encode(contract, max_length=512, return_tensors="pt")  # EXPECT: silent_truncation
    with torch.no_grad():
        logits = model(ids).logits
    print(LABELS[logits.argmax().item()])


if __name__ == "__main__":
    main(sys.argv[1])
