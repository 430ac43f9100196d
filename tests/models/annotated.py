"""Shapes written down: jaxtyping annotations, a comment for the probe, a mixture of experts."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

try:
    from jaxtyping import Float, Int
except ImportError:
    Float = Int = None


class Mixer(nn.Module):
    def __init__(self, tokens: int, channels: int, hidden: int):
        super().__init__()
        self.across_tokens = nn.Sequential(nn.Linear(tokens, hidden), nn.GELU(), nn.Linear(hidden, tokens))
        self.across_channels = nn.Sequential(nn.Linear(channels, hidden), nn.GELU(), nn.Linear(hidden, channels))

    def forward(self, x: Float[Tensor, "batch 8 channels"]) -> Float[Tensor, "batch 8 channels"]:
        x = x + self.across_tokens(x.transpose(1, 2)).transpose(1, 2)
        return x + self.across_channels(x)


# probe: Mixer(tokens=8, channels=30, hidden=42)


class Experts(nn.Module):
    def __init__(self, dim: int, hidden_dim: int, num_experts: int = 4, top_k: int = 2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden_dim), nn.SiLU(), nn.Linear(hidden_dim, dim)) for _ in range(num_experts)
        )

    def forward(self, x: Tensor) -> Tensor:
        shape = x.shape
        x = x.view(-1, shape[-1])
        weights, chosen = torch.topk(F.softmax(self.gate(x), dim=-1), self.top_k)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            rows, nth = torch.where(chosen == index)
            out[rows] += weights[rows, nth, None] * expert(x[rows])
        return out.view(shape)


class LanguageModel(nn.Module):
    def __init__(self, vocab_size: int, dim: int, n_layers: int, max_len: int = 256):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.position = nn.Embedding(max_len, dim)
        layer = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=2 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.moe = Experts(dim, 2 * dim)
        self.head = nn.Linear(dim, vocab_size, bias=False)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        length = ids.shape[1]
        h = self.embed(ids) + self.position.weight[:length]
        mask = torch.triu(torch.full((length, length), float("-inf"), device=ids.device), diagonal=1)
        h = self.encoder(h, mask=mask, is_causal=True)
        h = h + self.moe(h)
        return self.head(h)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 4, alpha: float = 8.0):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.up = nn.Parameter(torch.zeros(base.out_features, r))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.down.T @ self.up.T) * self.scale


adapted = LoRALinear(nn.Linear(30, 20))
