from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    block: int = 128
    batch: int = 32
    width: int = 192
    vocabulary: int = 256
    steps: int = 5000
    seed: int = 1337


class TinyLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocabulary, config.width)
        layer = nn.TransformerEncoderLayer(config.width, 6, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 4)
        self.out = nn.Linear(config.width, config.vocabulary)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], device=ids.device)
        return self.out(self.body(self.embed(ids), mask=mask, is_causal=True))


def get_batch(data, config):
    starts = torch.randint(len(data) - config.block - 1, (config.batch,))
    rows = torch.stack([data[i : i + config.block + 1] for i in starts])
    return rows[:, :-1], rows[:, 1:]


if __name__ == "__main__":
    config = Config()
    torch.manual_seed(config.seed)
    data = torch.from_numpy(np.fromfile("input.txt", dtype=np.uint8).astype(np.int64))
    model = TinyLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(config.steps):
        x, y = get_batch(data, config)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "tiny.pt")
