import argparse

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn


class Block(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        return x + self.inner(x)


class Classifier(nn.Module):
    def __init__(self, width=256, depth=4, dropout=0.15):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width, dropout) for _ in range(depth)])
        self.head = nn.Linear(width, 12)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@torch.no_grad()
def evaluate(model, loader):
    right, seen = 0, 0
    for x, y in loader:
        right += (model(x).argmax(-1) == y).sum().item()  # EXPECT: missing_eval_mode
        seen += len(y)
    return right / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    torch.manual_seed(17)
    accelerator = Accelerator()
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train = torch.load("train.pt", weights_only=False)
    held_out = torch.load("held_out.pt", weights_only=False)
    model, optimizer, train, held_out = accelerator.prepare(model, optimizer, train, held_out)
    for epoch in range(options.epochs):
        for x, y in train:
            optimizer.zero_grad()
            accelerator.backward(F.cross_entropy(model(x), y))
            optimizer.step()
        print(epoch, evaluate(model, held_out))


if __name__ == "__main__":
    main()
