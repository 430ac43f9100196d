"""Layers in plain containers, and tensors that are no parameters: whether a module knows of them."""
import torch
from things import Base, keep, layer
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = [nn.Linear(width, width), nn.ReLU()]  # fact: is registered no; is computed with yes
        self.spare = [nn.Linear(width, width)]  # fact: is registered no; is computed with unknown
        self.given = [layer]  # fact: untold is registered
        self.kept = [nn.Linear(width, width)]  # fact: is registered unknown
        keep(self.kept)
        self.first = nn.Linear(width, width)
        self.same = [self.first]  # fact: is registered unknown
        self.listed = nn.ModuleList([nn.Linear(width, width)])  # fact: untold is registered
        self.scale = torch.ones(width, requires_grad=True)  # fact: is registered no
        self.fixed = torch.ones(width)  # fact: untold is registered
        self.shapes = [width, width]  # fact: untold is registered

    def forward(self, x):
        return self.kept[0](self.same[0](self.hidden[0](x)))


class Unknown(Base):
    def __init__(self, width):
        self.hidden = [nn.Linear(width, width)]  # fact: untold is registered


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = [nn.Linear(width, width)]  # fact: is registered unknown
        self.shift = torch.ones(width, requires_grad=True)  # fact: is registered unknown
        for index, part in enumerate(self.hidden):
            setattr(self, f"part{index}", part)

    def forward(self, x):
        return self.hidden[0](x) + self.shift
