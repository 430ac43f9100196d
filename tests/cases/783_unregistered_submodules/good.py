import torch
import torch.nn as nn


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.steps = [self.up, nn.SiLU(), self.down]

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


class MixtureOfExperts(nn.Module):
    def __init__(self, width, hidden, count):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.ModuleList()
        for _ in range(count):
            self.experts.append(Expert(width, hidden))

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return (outputs * weights.unsqueeze(-2)).sum(-1)
