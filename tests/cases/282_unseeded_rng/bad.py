import json
import random

import torch
from torch import nn


def load(path="pairs.jsonl"):
    with open(path, encoding="utf-8") as handle:
        rows = [json.loads(line) for line in handle]
    random.shuffle(rows)  # EXPECT: unseeded_rng
    cut = int(0.8 * len(rows))
    return rows[:cut], rows[cut:]


def tensors(rows):
    x = torch.tensor([row["features"] for row in rows])
    y = torch.tensor([row["label"] for row in rows])
    return x, y


def main():
    train, test = load()
    x, y = tensors(train)
    model = nn.Sequential(nn.Linear(x.shape[1], 128), nn.ReLU(), nn.Linear(128, 2))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(20):
        order = torch.randperm(len(x))  # EXPECT: unseeded_rng
        for part in order.split(64):
            loss = nn.functional.cross_entropy(model(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        features, labels = tensors(test)
        print((model(features).argmax(-1) == labels).float().mean().item())


if __name__ == "__main__":
    main()
