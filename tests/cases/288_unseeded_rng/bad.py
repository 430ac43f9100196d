import random

import click
import numpy as np
import torch
from torch import nn

from rows import batches


class Mixer:
    def __init__(self, width, classes, alpha=0.4):
        self.alpha = alpha
        self.net = nn.Sequential(nn.Linear(width, 256), nn.GELU(), nn.Linear(256, classes))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)

    def step(self, x, y):
        mix = np.random.beta(self.alpha, self.alpha)  # EXPECT: unseeded_rng
        other = x.flip(0)
        scores = self.net(mix * x + (1 - mix) * other)
        loss = mix * nn.functional.cross_entropy(scores, y)
        loss = loss + (1 - mix) * nn.functional.cross_entropy(scores, y.flip(0))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


@click.command()
@click.option("--epochs", default=10)
def train(epochs):
    random.seed(1)
    torch.manual_seed(1)
    mixer = Mixer(width=384, classes=10)
    for epoch in range(epochs):
        print(epoch, np.mean([mixer.step(x, y) for x, y in batches()]))


if __name__ == "__main__":
    train()
