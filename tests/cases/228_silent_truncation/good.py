import argparse
import csv
import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("reviews", help="a CSV file with a column `text`")
    parser.add_argument("--model", default="distilbert-base-uncased-finetuned-sst-2-english")
    parser.add_argument("--max_seq_length", type=int, default=128)
    parser.add_argument("--batch_size", type=int, default=32)
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForSequenceClassification.from_pretrained(args.model)
    with open(args.reviews, newline="", encoding="utf-8") as handle:
        texts = [row["text"] for row in csv.DictReader(handle)]
    cut = 0
    for start in range(0, len(texts), args.batch_size):
        batch = tokenizer.batch_encode_plus(
            texts[start : start + args.batch_size],
            padding=True,
            truncation=True,
            max_length=args.max_seq_length,
            return_tensors="pt",
        )
        cut += (batch["attention_mask"].sum(-1) >= args.max_seq_length).sum().item()
        with torch.no_grad():
            for label in model(**batch).logits.argmax(-1).tolist():
                print(model.config.id2label[label])
    if cut:
        print(f"{cut} of {len(texts)} reviews reached {args.max_seq_length} tokens", file=sys.stderr)


if __name__ == "__main__":
    main()
