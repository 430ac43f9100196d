"""How friendly the bot's answers sound: share of positive ones in a file of answers."""

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", help="one answer per line")
    parser.add_argument("--model", default="distilbert-base-uncased-finetuned-sst-2-english")
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForSequenceClassification.from_pretrained(args.model)

    positive, seen = 0, 0
    for line in Path(args.answers).read_text(encoding="utf-8").splitlines():
        encoded = tokenizer(line, return_tensors="pt")
        with torch.inference_mode():
            logits = model(**encoded).logits
        positive += logits.argmax(dim=-1).item()
        seen += 1
    print(f"{positive / seen:.0%} of {seen} answers sound friendly")


if __name__ == "__main__":
    main()
