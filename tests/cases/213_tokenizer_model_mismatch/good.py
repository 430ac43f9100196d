import argparse
import os

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

LABELS = ("contradiction", "neutral", "entailment")


def get_args():
    ap = argparse.ArgumentParser(description="natural language inference from a tab-separated file")
    ap.add_argument("pairs")
    ap.add_argument("--model", "-m", default="microsoft/deberta-v3-base")
    ap.add_argument("--tokenizer", "-t", default="microsoft/deberta-v3-base")
    ap.add_argument("--weights", default="nli.pt")
    return ap.parse_args()


def japanese():
    name = os.environ["JA_MODEL"]
    vocabulary = os.environ.get("JA_TOKENIZER", "cl-tohoku/bert-base-japanese-v3")
    return AutoTokenizer.from_pretrained(vocabulary), AutoModelForSequenceClassification.from_pretrained(name)


def main(args):
    tok = AutoTokenizer.from_pretrained(args.tokenizer)
    net = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=3)
    net.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
    net.eval()
    with torch.no_grad(), open(args.pairs, encoding="utf-8") as lines:
        for line in lines:
            premise, hypothesis = line.rstrip("\n").split("\t")
            scores = net(**tok(premise, hypothesis, return_tensors="pt")).logits[0]
            print(LABELS[scores.argmax()], premise, hypothesis, sep="\t")


if __name__ == "__main__":
    main(get_args())
