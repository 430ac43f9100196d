"""LLM408 unregistered-submodule."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class UnregisteredSubmodule(Rule):
    """Layers in a plain list or dictionary belong to no module: they are not trained, moved or saved.

    `nn.Module` finds its layers when they are assigned to attributes. Of a list, tuple or dictionary it sees nothing, so
    that the layers inside are missing from `parameters()`, `to()`, `state_dict()`, `train()` and `eval()`. The model
    computes with them, the loss falls since the rest learns, and they keep the numbers that they were made with; a
    checkpoint does not hold them, and the next process makes others. The same goes for parameters in such a container,
    and for a tensor with `requires_grad=True` that is no `nn.Parameter`.

    Use `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList`, `nn.ParameterDict` or `nn.Parameter`: they are used in the
    same way.

    Reported are containers of layers that the program itself makes, in a class whose methods work with them. Silent are
    layers that something else registers too (an attribute, a `Sequential`, `add_module`), those that the program
    optimizes, loads, freezes or puts in evaluation mode by itself, what comes in from outside, such as a teacher that is
    hidden in a list on purpose, and methods without gradients.
    """

    code = "LLM408"
    severity = Severity.ERROR
    triggers = ("Module", "requires_grad=True")
    bad = [
        Bad(
            """\
from torch import nn

class Encoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]  # <- `self.layers` is a plain list: nobody trains, moves or saves the layers that `nn.Linear` makes
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)
""",
            fixed="""\
from torch import nn

class Encoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)
""",
        ),
        # Filled in a loop; the blocks are classes of the program; a script makes the model.
        Bad(
            """\
import torch
import torch.nn as nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return x + self.mix(self.norm(x))

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = []  # <- `self.blocks` is a plain list
        for _ in range(depth):
            self.blocks.append(Block(width))

    def forward(self, x):
        for index in range(len(self.blocks)):
            x = self.blocks[index](x)
        return x

torch.manual_seed(0)
net = Net(8, 2)
print(net(torch.zeros(1, 8)))
""",
            fixed="""\
import torch
import torch.nn as nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return x + self.mix(self.norm(x))

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(depth):
            self.blocks.append(Block(width))

    def forward(self, x):
        for index in range(len(self.blocks)):
            x = self.blocks[index](x)
        return x

torch.manual_seed(0)
net = Net(8, 2)
print(net(torch.zeros(1, 8)))
""",
        ),
        # A dictionary by task, made in a helper method; cells of a notebook.
        Bad(
            {
                "model.ipynb": [
                    "import torch",
                    (
                        "class Tasks(torch.nn.Module):\n    def __init__(self, encoder, tasks):\n        super().__init__()\n"
                        "        self.encoder = encoder\n        self.make_heads(tasks)\n\n    def make_heads(self, tasks):\n"
                        "        self.heads = {name: torch.nn.Linear(8, n) for name, n in tasks.items()}  # <- `self.heads` is a plain dict\n\n"
                        "    def forward(self, x, task):\n        return self.heads[task](self.encoder(x))"
                    ),
                ]
            },
            fixed={
                "model.ipynb": [
                    "import torch",
                    (
                        "class Tasks(torch.nn.Module):\n    def __init__(self, encoder, tasks):\n        super().__init__()\n"
                        "        self.encoder = encoder\n        self.make_heads(tasks)\n\n    def make_heads(self, tasks):\n"
                        "        self.heads = torch.nn.ModuleDict({name: torch.nn.Linear(8, n) for name, n in tasks.items()})\n\n"
                        "    def forward(self, x, task):\n        return self.heads[task](self.encoder(x))"
                    ),
                ]
            },
        ),
        # Parameters.
        Bad(
            """\
import torch
from torch.nn import Module, Parameter

class Mixture(Module):
    def __init__(self, width, count):
        super().__init__()
        weights = [Parameter(torch.zeros(width)) for _ in range(count)]
        self.weights = weights  # <- `self.weights` is a plain list: nobody trains, moves or saves the parameters that `Parameter` makes

    def forward(self, x):
        return sum(x * weight for weight in self.weights)
""",
            fixed="""\
import torch
from torch.nn import Module, Parameter

class Mixture(Module):
    def __init__(self, width, count):
        super().__init__()
        weights = [Parameter(torch.zeros(width)) for _ in range(count)]
        self.weights = torch.nn.ParameterList(weights)

    def forward(self, x):
        return sum(x * weight for weight in self.weights)
""",
        ),
        # A tensor that wants gradients, and is no parameter; a set of layers, which torch has nothing for.
        Bad("""\
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.ones(width, requires_grad=True)  # <- `self.scale` is a plain tensor: nobody trains, moves or saves it
        self.parts = {nn.Linear(width, width), nn.Linear(width, 1)}  # <- `self.parts` is a plain set

    def forward(self, x):
        return sum(part(x * self.scale).sum() for part in self.parts)
"""),
        # A tuple, and a list that is handed over by a function; Lightning.
        Bad(
            """\
import lightning as L
from torch import nn

def towers(width):
    return [nn.Sequential(nn.Linear(width, width), nn.ReLU()), nn.Sequential(nn.Linear(width, width), nn.Tanh())]

class Two(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.towers = towers(width)  # <- `self.towers` is a plain list
        self.gates = nn.Linear(width, 1), nn.Linear(width, 1)  # <- `self.gates` is a plain tuple

    def training_step(self, batch, index):
        return sum(gate(tower(batch)).mean() for gate, tower in zip(self.gates, self.towers))
""",
            fixed="""\
import lightning as L
from torch import nn

def towers(width):
    return [nn.Sequential(nn.Linear(width, width), nn.ReLU()), nn.Sequential(nn.Linear(width, width), nn.Tanh())]

class Two(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.towers = nn.ModuleList(towers(width))
        self.gates = nn.ModuleList([nn.Linear(width, 1), nn.Linear(width, 1)])

    def training_step(self, batch, index):
        return sum(gate(tower(batch)).mean() for gate, tower in zip(self.gates, self.towers))
""",
        ),
    ]
    good = [
        Good("""\
from torch import nn

class Encoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.heads = nn.ModuleDict({"a": nn.Linear(width, 2)})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.heads["a"](x)
"""),
        # Registered as well: as attributes, in a `Sequential`, by name.
        Good("""\
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.both = [self.first, self.second]
        self.steps = [nn.Linear(width, width) for _ in range(3)]
        self.all = nn.Sequential(*self.steps)

    def forward(self, x):
        for layer in self.both:
            x = layer(x)
        return self.steps[0](x)

class Named(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = []
        for index in range(depth):
            layer = nn.Linear(width, width)
            setattr(self, f"layer{index}", layer)
            self.layers.append(layer)
        self.others = [nn.Linear(width, width)]
        for index, layer in enumerate(self.others):
            self.add_module(f"other{index}", layer)

    def forward(self, x):
        for layer in self.layers + self.others:
            x = layer(x)
        return x
"""),
        # Functions, layers without parameters, numbers; what is no module itself.
        Good("""\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.activations = [torch.tanh, torch.sin]
        self.poolings = [nn.MaxPool1d(2), nn.ReLU()]
        self.widths = [width, width]

    def forward(self, x):
        for activation in self.activations + self.poolings:
            x = activation(self.mix(x))
        return x

class Ensemble:
    def __init__(self, width, count):
        self.nets = [nn.Linear(width, 1) for _ in range(count)]

    def forward(self, x):
        return sum(net(x) for net in self.nets)
"""),
        # Hidden on purpose: a teacher from outside, what is frozen, evaluated or optimized by itself.
        Good("""\
import torch
from torch import nn

class Student(nn.Module):
    def __init__(self, teacher, width):
        super().__init__()
        self.hidden = [teacher]
        self.mix = nn.Linear(width, width)
        self.fixed = [nn.Linear(width, width) for _ in range(2)]
        for layer in self.fixed:
            layer.requires_grad_(False)

    def forward(self, x):
        return self.mix(x), self.hidden[0](x), self.fixed[0](x)

class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.critics = [nn.Linear(width, 1) for _ in range(2)]
        self.optimizers = [torch.optim.Adam(critic.parameters()) for critic in self.critics]

    def forward(self, x):
        return [critic(x) for critic in self.critics]
"""),
        # The list is only the way to a registered one; nobody works with it, or not with gradients.
        Good("""\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = []
        for _ in range(depth):
            self.layers.append(nn.Linear(width, width))
        self.layers = nn.ModuleList(self.layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

class Hasher(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.planes = [nn.Linear(width, 8, bias=False) for _ in range(4)]

    @torch.no_grad()
    def forward(self, x):
        return [plane(x) > 0 for plane in self.planes]

class Kept(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.spare = [nn.Linear(width, width)]

    def forward(self, x):
        return self.mix(x)
"""),
        # Tensors: one without gradients, one that an optimizer is given, one of no module.
        Good("""\
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.ones(width)
        self.shift = torch.zeros(width, requires_grad=True)
        self.optimizer = torch.optim.Adam([self.shift])
        self.gain = nn.Parameter(torch.ones(width, requires_grad=True))

    def forward(self, x):
        return x * self.scale * self.gain + self.shift

class Attack:
    def __init__(self, width):
        self.delta = torch.zeros(width, requires_grad=True)
"""),
        # A base that nobody sees may do it; so may what is given the list.
        Good("""\
from project import Collecting, register
from torch import nn

class Net(Collecting):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width)]

    def forward(self, x):
        return self.layers[0](x)

class Mixed(Collecting, nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width)]

    def forward(self, x):
        return self.layers[0](x)

class Other(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width)]
        register(self, self.layers)

    def forward(self, x):
        return self.layers[0](x)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for hidden in facts.hidden_layers():
            place = hidden.place
            if place is None or place in seen or hidden.is_registered is not NO or hidden.is_computed_with is not YES:
                continue
            seen.add(place)
            what = "parameters" if hidden.are_parameters else "layers"
            stored, text = hidden.stored, hidden.stored_by_the_remedy
            yield self.report(
                place,
                f"`{hidden.attribute}` is a plain {hidden.container}: nobody trains, moves or saves the {what} that `{hidden.part}` makes",
                help=f"use `nn.{hidden.remedy}`"
                if hidden.remedy is not None
                else "keep them in a container of `torch.nn`",
                fix=[Replace(stored.range, text)] if stored is not None and text is not None else (),
            )
        for tensor in facts.hidden_tensors():
            place = tensor.call.place
            if place not in seen and tensor.is_registered is NO:
                seen.add(place)
                yield self.report(
                    place,
                    f"`{tensor.attribute}` is a plain tensor: nobody trains, moves or saves it",
                    help="use `nn.Parameter`",
                )
