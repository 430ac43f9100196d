import csv
import sys

from transformers import pipeline

MODEL = "cardiffnlp/twitter-roberta-base-sentiment-latest"


def classify(path):
    classifier = pipeline(
        "text-classification", model=MODEL, tokenizer="bert-base-cased", top_k=None
    )  # EXPECT: tokenizer_model_mismatch
    with open(path, newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            yield row["id"], classifier(row["text"])


if __name__ == "__main__":
    for key, scores in classify(sys.argv[1]):
        print(key, scores)
