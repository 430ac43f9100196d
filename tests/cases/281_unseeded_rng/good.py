import argparse

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, set_seed

from rows import collate, read_rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="bert-base-uncased")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-5)
    parser.add_argument("--seed", type=int, default=None, help="random where it is not given")
    args = parser.parse_args()
    if args.seed is not None:
        set_seed(args.seed)

    model = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=5).cuda()
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
