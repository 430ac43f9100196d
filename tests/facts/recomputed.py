"""Re-entrant checkpoints: whether their inputs ask for gradients."""
import torch
from things import options, vectors
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.frozen = nn.Embedding(9, width)
        self.frozen.requires_grad_(False)
        self.learned = nn.Embedding(9, width)
        self.sometimes = nn.Embedding(9, width)
        if options.freeze:
            self.sometimes.requires_grad_(False)
        self.vectors = nn.Embedding.from_pretrained(vectors)
        self.thawed = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.project = nn.Linear(width, width)
        self.project.requires_grad_(False)
        self.block = nn.Linear(width, width)
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, ids, states):
        a = checkpoint(self.block, self.frozen(ids), use_reentrant=True)  # fact: gets no gradients yes
        a = checkpoint(self.block, a, use_reentrant=True)  # fact: gets no gradients yes
        b = checkpoint(self.block, self.learned(ids), use_reentrant=True)  # fact: gets no gradients unknown
        c = checkpoint(self.block, self.sometimes(ids), use_reentrant=True)  # fact: gets no gradients unknown
        d = checkpoint(self.block, self.vectors(ids), use_reentrant=True)  # fact: gets no gradients yes
        e = checkpoint(self.block, self.thawed(ids), use_reentrant=True)  # fact: gets no gradients unknown
        f = checkpoint(self.block, self.project(states), use_reentrant=True)  # fact: gets no gradients unknown
        g = checkpoint(self.block, self.frozen(ids) + self.shift, use_reentrant=True)  # fact: gets no gradients unknown
        h = checkpoint(self.block, states, use_reentrant=True)  # fact: gets no gradients unknown
        i = checkpoint(self.block, self.frozen(ids), use_reentrant=False)  # fact: untold gets no gradients
        j = checkpoint(self.block, self.frozen(ids), use_reentrant=options.old)  # fact: untold gets no gradients
        with torch.no_grad():
            seen = self.learned(ids)
        k = checkpoint(self.block, seen, use_reentrant=True)  # fact: gets no gradients yes
        asked = self.vectors(ids)
        asked.requires_grad_(True)
        return a, b, c, d, e, f, g, h, i, j, k, checkpoint(self.block, asked, use_reentrant=True)  # fact: gets no gradients unknown
# ======== a second stage lets parameters learn again, one after the other
from torch import nn
from torch.utils.checkpoint import checkpoint


class Staged(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.frozen = nn.Embedding(9, width)
        self.frozen.requires_grad_(False)
        self.block = nn.Linear(width, width)

    def forward(self, ids):
        return checkpoint(self.block, self.frozen(ids), use_reentrant=True)  # fact: gets no gradients unknown


def second_stage(model: Staged):
    for parameter in model.parameters():
        parameter.requires_grad = True
# ======== all of a model learns again
from torch import nn
from torch.utils.checkpoint import checkpoint


class Whole(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.frozen = nn.Embedding(9, width)
        self.frozen.requires_grad_(False)
        self.block = nn.Linear(width, width)

    def forward(self, ids):
        return checkpoint(self.block, self.frozen(ids), use_reentrant=True)  # fact: gets no gradients unknown


def all_of_it(width):
    return Whole(width).requires_grad_(True)
