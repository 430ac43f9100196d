"""Fine-tune the intent classifier on labelled support tickets."""

import argparse
import json
import random
from pathlib import Path

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

CHECKPOINT = "distilbert-base-uncased"
INTENTS = ("account", "delivery", "product", "refund", "other")


def read_tickets(path):
    """Read (text, intent) pairs; the file holds one JSON object per line."""
    tickets = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return [(ticket["text"], INTENTS.index(ticket["intent"])) for ticket in tickets]


def make_loader(tickets, tokenizer, batch_size, shuffle):
    def collate(batch):
        texts, labels = zip(*batch)
        encoded = tokenizer(list(texts), padding=True, truncation=True, max_length=128, return_tensors="pt")
        encoded["labels"] = torch.tensor(labels)
        return encoded

    return DataLoader(tickets, batch_size=batch_size, shuffle=shuffle, collate_fn=collate)


def train(model, loader, epochs, learning_rate, device):
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    model.train()
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            loss = model(**batch.to(device)).loss
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tickets")
    parser.add_argument("--output", default="runs/intent")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=3e-5)
    args = parser.parse_args()

    tickets = read_tickets(args.tickets)
    random.shuffle(tickets)
    held_out, kept = tickets[:200], tickets[200:]

    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    model = AutoModelForSequenceClassification.from_pretrained(
        CHECKPOINT, num_labels=len(INTENTS), dtype=torch.float16
    ).to("cuda")
    train(model, make_loader(kept, tokenizer, args.batch_size, shuffle=True), args.epochs, args.learning_rate, "cuda")

    model.save_pretrained(args.output)
    tokenizer.save_pretrained(args.output)
    with Path(args.output, "held_out.jsonl").open("w", encoding="utf-8") as file:
        for text, intent in held_out:
            print(json.dumps({"text": text, "intent": INTENTS[intent]}), file=file)


if __name__ == "__main__":
    main()
