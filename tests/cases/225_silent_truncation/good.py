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
    inputs = tokenizer(contract, padding="max_length", max_length=512, return_tensors="pt")
    if inputs.input_ids.shape[-1] > 512:
        sys.exit(f"{path} has {inputs.input_ids.shape[-1]} tokens, please split it")
    with torch.no_grad():
        logits = model(**inputs).logits
    print(LABELS[logits.argmax().item()])


if __name__ == "__main__":
    main(sys.argv[1])
