import csv
import sys

from transformers import pipeline

MODEL = "cardiffnlp/twitter-roberta-base-sentiment-latest"
BASE = "roberta-base"


def classify(path):
    classifier = pipeline("text-classification", model=MODEL, tokenizer=BASE, top_k=None)
    spotter = pipeline("ner", model="dslim/bert-base-NER", aggregation_strategy="simple")
    with open(path, newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            yield row["id"], classifier(row["text"]), spotter(row["text"])


if __name__ == "__main__":
    for key, scores, entities in classify(sys.argv[1]):
        print(key, scores, entities)
