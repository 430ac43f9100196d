import torch
from ipdb import set_trace
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.proj(x))
        set_trace()  # EXPECT: debugger_leftover
        return x * gate
