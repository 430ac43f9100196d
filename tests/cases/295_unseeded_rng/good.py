import numpy as np
import torch
from torch import nn

from features import load_matrix

rng = np.random.default_rng(20240611)


def bootstrap(x, y):
    rows = rng.integers(0, len(x), len(x))
    return x[rows], y[rows]


def fit(x, y):
    probe = nn.Linear(x.shape[1], 2)
    optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=50)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(probe(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
    return probe


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = load_matrix("train.npz")
    probes = [fit(*bootstrap(x, y)) for _ in range(20)]
    torch.save([probe.state_dict() for probe in probes], "probes.pt")
