import csv

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

BASE = "bert-base-uncased"
TUNED = "distilbert-base-uncased-finetuned-sst-2-english"


def tune(dataset):
    model = AutoModelForSequenceClassification.from_pretrained(BASE, num_labels=2)
    Trainer(model=model, args=TrainingArguments("tuned", seed=1), train_dataset=dataset).train()
    model.save_pretrained("tuned")


def main():
    tokenizer = AutoTokenizer.from_pretrained(TUNED)
    model = AutoModelForSequenceClassification.from_pretrained(TUNED).eval()
    labels = ("negative", "positive")
    with open("reviews.csv", newline="") as file, torch.inference_mode():
        for row in csv.DictReader(file):
            inputs = tokenizer(row["text"][:1000], return_tensors="pt")
            print(row["id"], labels[model(**inputs).logits.argmax(-1).item()])


if __name__ == "__main__":
    main()
