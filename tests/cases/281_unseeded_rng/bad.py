import argparse

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification

from rows import collate, read_rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="bert-base-uncased")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-5)
    args = parser.parse_args()

    model = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=5).cuda()  # EXPECT: unseeded_rng
    loader = DataLoader(read_rows("train.tsv"), batch_size=16, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    model.train()
    for epoch in range(args.epochs):
        for batch in loader:
            loss = model(**batch.to("cuda")).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(epoch, loss.item())
    model.save_pretrained("out")


if __name__ == "__main__":
    main()
