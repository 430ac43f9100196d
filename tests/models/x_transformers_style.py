"""Layers assembled from keyword arguments, after the manner of x-transformers."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


def exists(val):
    return val is not None


def default(val, d):
    return val if exists(val) else (d() if callable(d) else d)


class ScaledSinusoidalEmbedding(nn.Module):
    def __init__(self, dim, theta=10000):
        super().__init__()
        assert dim % 2 == 0
        self.scale = nn.Parameter(torch.ones(1) * dim**-0.5)
        half_dim = dim // 2
        freq_seq = torch.arange(half_dim).float() / half_dim
        self.register_buffer("inv_freq", theta**-freq_seq, persistent=False)

    def forward(self, x, pos=None):
        seq_len, device = x.shape[1], x.device
        if not exists(pos):
            pos = torch.arange(seq_len, device=device)
        emb = torch.einsum("i, j -> i j", pos, self.inv_freq)
        emb = torch.cat((emb.sin(), emb.cos()), dim=-1)
        return emb * self.scale


class AlibiPositionalBias(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        slopes = torch.tensor([2 ** (-8 * (i + 1) / heads) for i in range(heads)])
        self.register_buffer("slopes", slopes.view(-1, 1, 1), persistent=False)

    def forward(self, i, j):
        distance = torch.arange(j, device=self.slopes.device)[None, :] - torch.arange(i, device=self.slopes.device)[:, None]
        return -distance.abs() * self.slopes


class GLU(nn.Module):
    def __init__(self, dim_in, dim_out, activation):
        super().__init__()
        self.act = activation
        self.proj = nn.Linear(dim_in, dim_out * 2)

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, dim=-1)
        return x * self.act(gate)


class FeedForward(nn.Module):
    def __init__(self, dim, dim_out=None, mult=4, glu=False, dropout=0.0):
        super().__init__()
        inner_dim = int(dim * mult)
        dim_out = default(dim_out, dim)
        project_in = GLU(dim, inner_dim, nn.GELU()) if glu else nn.Sequential(nn.Linear(dim, inner_dim), nn.GELU())
        self.ff = nn.Sequential(project_in, nn.Dropout(dropout), nn.Linear(inner_dim, dim_out))

    def forward(self, x):
        return self.ff(x)


class Attention(nn.Module):
    def __init__(self, dim, dim_head=64, heads=8, causal=False, dropout=0.0, kv_heads=None, alibi=False):
        super().__init__()
        self.heads = heads
        self.kv_heads = default(kv_heads, heads)
        self.causal = causal
        self.scale = dim_head**-0.5
        self.to_q = nn.Linear(dim, dim_head * heads, bias=False)
        self.to_k = nn.Linear(dim, dim_head * self.kv_heads, bias=False)
        self.to_v = nn.Linear(dim, dim_head * self.kv_heads, bias=False)
        self.to_out = nn.Linear(dim_head * heads, dim, bias=False)
        self.bias = AlibiPositionalBias(heads) if alibi else None

    def forward(self, x, context=None, mask=None):
        b, n, _, h = *x.shape, self.heads
        kv_input = default(context, x)
        q, k, v = self.to_q(x), self.to_k(kv_input), self.to_v(kv_input)
        q = q.reshape(b, n, h, -1).transpose(1, 2)
        k, v = (t.reshape(b, t.shape[1], self.kv_heads, -1).transpose(1, 2) for t in (k, v))
        if self.kv_heads != h:
            k, v = (t.repeat_interleave(h // self.kv_heads, dim=1) for t in (k, v))
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        i, j = dots.shape[-2:]
        if exists(self.bias):
            dots = dots + self.bias(i, j)
        if exists(mask):
            dots = dots.masked_fill(~mask[:, None, None, :], -torch.finfo(dots.dtype).max)
        if self.causal:
            future = torch.ones((i, j), dtype=torch.bool, device=x.device).triu(j - i + 1)
            dots = dots.masked_fill(future, -torch.finfo(dots.dtype).max)
        out = torch.einsum("b h i j, b h j d -> b h i d", dots.softmax(dim=-1), v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


class AttentionLayers(nn.Module):
    def __init__(self, dim, depth, heads=8, causal=False, cross_attend=False, **kwargs):
        super().__init__()
        attn_kwargs = {k[5:]: v for k, v in kwargs.items() if k.startswith("attn_")}
        ff_kwargs = {k[3:]: v for k, v in kwargs.items() if k.startswith("ff_")}
        self.dim = dim
        self.causal = causal
        norm = partial(nn.LayerNorm, dim)
        kinds = ("a", "c", "f") if cross_attend else ("a", "f")
        make = {
            "a": lambda: Attention(dim, heads=heads, causal=causal, **attn_kwargs),
            "c": lambda: Attention(dim, heads=heads, **attn_kwargs),
            "f": lambda: FeedForward(dim, **ff_kwargs),
        }
        self.layer_types = kinds * depth
        self.layers = nn.ModuleList([nn.ModuleList([norm(), make[kind]()]) for kind in self.layer_types])
        self.final_norm = norm()

    def forward(self, x, context=None, mask=None, context_mask=None):
        for kind, (norm, layer) in zip(self.layer_types, self.layers):
            residual = x
            x = norm(x)
            if kind == "a":
                out = layer(x, mask=mask)
            elif kind == "c":
                out = layer(x, context=context, mask=context_mask)
            else:
                out = layer(x)
            x = out + residual
        return self.final_norm(x)


class Decoder(AttentionLayers):
    def __init__(self, **kwargs):
        assert "causal" not in kwargs, "cannot set causality on decoder"
        super().__init__(causal=True, **kwargs)


class Encoder(AttentionLayers):
    def __init__(self, **kwargs):
        assert "causal" not in kwargs, "cannot set causality on encoder"
        super().__init__(causal=False, **kwargs)


class TransformerWrapper(nn.Module):
    def __init__(self, *, num_tokens, max_seq_len, attn_layers, emb_dim=None, emb_dropout=0.0, tie_embedding=False):
        super().__init__()
        dim = attn_layers.dim
        emb_dim = default(emb_dim, dim)
        self.max_seq_len = max_seq_len
        self.token_emb = nn.Embedding(num_tokens, emb_dim)
        self.pos_emb = ScaledSinusoidalEmbedding(emb_dim)
        self.emb_dropout = nn.Dropout(emb_dropout)
        self.project_emb = nn.Linear(emb_dim, dim) if emb_dim != dim else nn.Identity()
        self.attn_layers = attn_layers
        self.to_logits = nn.Linear(dim, num_tokens, bias=False)

    def forward(self, x, return_embeddings=False, mask=None, **kwargs):
        x = self.token_emb(x)
        x = x + self.pos_emb(x)
        x = self.project_emb(self.emb_dropout(x))
        x = self.attn_layers(x, mask=mask, **kwargs)
        return x if return_embeddings else self.to_logits(x)


class ViTransformerWrapper(nn.Module):
    def __init__(self, *, image_size, patch_size, attn_layers, channels=3, num_classes=None):
        super().__init__()
        assert image_size % patch_size == 0
        dim = attn_layers.dim
        num_patches = (image_size // patch_size) ** 2
        self.patch_size = patch_size
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches, dim))
        self.patch_to_embedding = nn.Sequential(nn.LayerNorm(channels * patch_size**2), nn.Linear(channels * patch_size**2, dim))
        self.attn_layers = attn_layers
        self.mlp_head = nn.Linear(dim, num_classes) if exists(num_classes) else nn.Identity()

    def forward(self, img):
        b, c, h, w = img.shape
        p = self.patch_size
        x = img.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 3, 5, 1).reshape(b, (h // p) * (w // p), -1)
        x = self.patch_to_embedding(x)
        x = x + self.pos_embedding[:, : x.shape[1]]
        return self.mlp_head(self.attn_layers(x).mean(dim=-2))


class AutoregressiveWrapper(nn.Module):
    def __init__(self, net, ignore_index=-100, pad_value=0):
        super().__init__()
        self.net = net
        self.ignore_index = ignore_index
        self.pad_value = pad_value
        self.max_seq_len = net.max_seq_len

    def forward(self, x, **kwargs):
        inp, target = x[:, :-1], x[:, 1:]
        logits = self.net(inp, **kwargs)
        return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=self.ignore_index)


def main():
    model = TransformerWrapper(num_tokens=256, max_seq_len=1024, attn_layers=Decoder(dim=96, depth=2, heads=3, attn_kv_heads=1))
    model = AutoregressiveWrapper(model)
    vit = ViTransformerWrapper(image_size=64, patch_size=16, num_classes=10, attn_layers=Encoder(dim=60, depth=2, heads=3))
    vit(torch.randn(1, 3, 64, 64))
    loss = model(torch.randint(0, 256, (2, 33)))
    loss.backward()


if __name__ == "__main__":
    main()
