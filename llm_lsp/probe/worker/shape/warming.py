"""The first abstract operation loads a thousand modules of torch; done once, before the runs are forked."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from . import checking, checkpoints
from .arguments import Recipe
from .configs import Notes
from .input_sizes import SizeChoice
from .inputs import Candidate, Plain
from .recording import Progress
from .running import FAKE, META, Model, Ran, Runner
from .totals import count_flops


class Tiny(nn.Module):
    """Has one of most things that language models are made of."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(9, 8)
        self.norm = nn.LayerNorm(8)
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Dropout(0.1))
        self.convolution = nn.Conv1d(8, 8, 3, padding=1)
        self.scale = nn.Parameter(torch.ones((8,)))
        nn.init.normal_(self.scale)
        nn.init.zeros_(self.scale)
        self.register_buffer("mask", torch.tril(torch.ones((6, 6), dtype=torch.bool)).view(1, 1, 6, 6))

    def forward(self, length: int) -> torch.Tensor:
        """One pass; what it computes is of no interest."""
        hidden = run(self.embedding, torch.zeros((1, length), dtype=torch.long))
        hidden = run(self.norm, hidden) + run(self.embedding, torch.arange(length))
        first, second = hidden.chunk(2, -1)
        hidden = run(self.layers, torch.cat((first, second), dim=-1))
        query, key = (each.view(1, length, 2, 4).transpose(1, 2) for each in (hidden, run(self.layers, hidden)))
        functional.scaled_dot_product_attention(query, key, key, is_causal=True)
        scores = (query @ key.transpose(-2, -1)) * 0.5
        scores = scores.masked_fill(next(self.buffers())[:, :, :length, :length], float("-inf"))
        mixed = functional.softmax(scores.float(), dim=-1) @ key
        hidden = hidden + mixed.transpose(1, 2).contiguous().view(1, length, 8)
        hidden = hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + 1e-5) * self.scale
        hidden = torch.cat((hidden[..., :4], -hidden[..., 4:]), dim=-1) + functional.silu(hidden)
        hidden = run(self.convolution, hidden.transpose(1, 2))[:, :, :length].transpose(1, 2)
        return functional.cross_entropy(hidden.reshape(-1, 8), torch.zeros((length,), dtype=torch.long))


def run(module: nn.Module, value: torch.Tensor) -> torch.Tensor:
    found = module(value)
    if not isinstance(found, torch.Tensor):
        raise TypeError("a layer gives a tensor")
    return found


def warm() -> None:
    """One pass with fake tensors, and one on the meta device, counted. Nothing here computes, so no thread is started."""
    runner = Runner("", say_nothing)
    recipe = Recipe("default", tiny)
    for mode in (FAKE, META):
        model = runner.make(recipe, mode)
        if isinstance(model, Model):
            ran = runner.run(model, Candidate((Plain(6),), {}, (), trusted=True), SizeChoice())
            if isinstance(ran, Ran) and mode == META:
                count_flops(runner, recipe, ran)


def say_nothing(stage: str, progress: Progress) -> None:
    """Nobody waits yet."""


def tiny(notes: Notes, shrunk: bool) -> nn.Module:
    return Tiny()


LOADED = (checking, checkpoints)
"""Imported here, so that no forked run has to."""
