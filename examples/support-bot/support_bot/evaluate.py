"""Accuracy of the intent classifier on held-out tickets."""

import argparse

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from support_bot.train import make_loader, read_tickets


def accuracy(model, loader, device):
    """Share of tickets whose intent the model gets right."""
    model.eval()
    right, seen = 0, 0
    for batch in loader:
        batch = batch.to(device)
        logits = model(**batch).logits
        right += (logits.argmax(dim=-1) == batch["labels"]).sum().item()
        seen += len(batch["labels"])
    return right / seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="runs/intent")
    parser.add_argument("--tickets", default="runs/intent/held_out.jsonl")
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForSequenceClassification.from_pretrained(args.model).to(device)
    loader = make_loader(read_tickets(args.tickets), tokenizer, batch_size=64, shuffle=False)
    print(f"accuracy {accuracy(model, loader, device):.3f}")


if __name__ == "__main__":
    main()
