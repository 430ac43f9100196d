import functools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

recompute = functools.partial(checkpoint, use_reentrant=False, preserve_rng_state=False)


class Sorter(nn.Module):
    def __init__(self, vectors, width=300, classes=12):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, padding_idx=0)
        self.first = nn.Sequential(nn.Linear(width, 1024), nn.GELU(), nn.Linear(1024, width))
        self.second = nn.Sequential(nn.Linear(width, 1024), nn.GELU(), nn.Linear(1024, width))
        self.top = nn.Linear(width, classes)

    def forward(self, ids):
        states = self.words(ids)
        states = recompute(self.first, states)
        states = recompute(self.second, states)
        return self.top(states.mean(1))


class Thawed(nn.Module):
    """Pretrained vectors that go on learning."""

    def __init__(self, vectors, body):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.body = body

    def forward(self, ids):
        return checkpoint(self.body, self.words(ids), use_reentrant=True)
