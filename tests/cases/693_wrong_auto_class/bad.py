import csv

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

BASE = "bert-base-uncased"


def main():
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    model = AutoModelForSequenceClassification.from_pretrained(BASE, num_labels=2).eval()
    labels = ("negative", "positive")
    with open("reviews.csv", newline="") as file, torch.inference_mode():
        for row in csv.DictReader(file):
            inputs = tokenizer(row["text"][:1000], return_tensors="pt")
            print(row["id"], labels[model(**inputs).logits.argmax(-1).item()])


if __name__ == "__main__":
    main()
