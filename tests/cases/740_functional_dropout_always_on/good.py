import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads, dropout=0.1):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.residual = nn.Dropout(dropout)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        if mask is not None:
            y = F.scaled_dot_product_attention(q, k, v, mask, 0.0)
        else:
            p = self.dropout if self.training else 0.0
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return self.residual(self.proj(y.transpose(1, 2).reshape(b, t, c)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads)

    def forward(self, x):
        return x + self.attention(self.norm(x))


@torch.no_grad()
def sample(model, ids, steps):
    model.eval()
    for _ in range(steps):
        ids = torch.cat([ids, model(ids)[:, -1].argmax(-1, keepdim=True)], dim=1)
    return ids
