"""LLM212 dropout-always-on."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, SetArgument, Severity


class DropoutAlwaysOn(Rule):
    """Dropout by a function goes on in evaluation: it is never told whether the module is training.

    `nn.Dropout` is a module, which `model.eval()` switches off. `F.dropout` is a function: its `training` is True unless
    somebody passes it, so that units are dropped in evaluation and in production too. Two predictions of one input
    differ, metrics are lower than they could be, and nothing is raised. `F.scaled_dot_product_attention` has no such
    argument at all: whatever `dropout_p` says is dropped.

    Pass `training=self.training`, or `dropout_p=self.p if self.training else 0.0`.

    Reported are calls in methods of modules, and in functions that these call. A probability of 0, a test of
    `self.training` around the call, and functions that by their names want noise at prediction time are left alone.
    """

    code = "LLM212"
    severity = Severity.ERROR
    triggers = ("dropout(", "dropout_p")
    bad = [
        Bad(
            """\
import torch.nn.functional as F
from torch import nn

class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        x = F.dropout(x, p=0.5)  # <- `F.dropout` drops in evaluation too
        return self.out(x)
""",
            fixed="""\
import torch.nn.functional as F
from torch import nn

class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        x = F.dropout(x, p=0.5, training=self.training)
        return self.out(x)
""",
        ),
        # Attention, whose probability is an attribute or a number.
        Bad(
            """\
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.qkv = nn.Linear(config.width, 3 * config.width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        first = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.config.dropout, is_causal=True)  # <- drops `self.config.dropout`
        return first + nn.functional.scaled_dot_product_attention(q, k, v, None, 0.1)  # <- drops `0.1` in evaluation too
""",
            fixed="""\
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.qkv = nn.Linear(config.width, 3 * config.width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        first = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.config.dropout if self.training else 0.0, is_causal=True)
        return first + nn.functional.scaled_dot_product_attention(q, k, v, None, 0.1 if self.training else 0.0)
""",
        ),
        # A function that a module's method calls, in a loop over its layers; a notebook.
        Bad(
            {
                "net.ipynb": [
                    "import torch\nfrom torch import nn\nfrom torch.nn.functional import dropout",
                    "def block(layer, x):\n    return dropout(torch.relu(layer(x)), 0.2)  # <- `dropout` drops in evaluation too",
                    (
                        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                        "        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))\n\n"
                        "    def forward(self, x):\n        for layer in self.layers:\n            x = block(layer, x)\n"
                        "        return x"
                    ),
                ]
            }
        ),
    ]
    good = [
        Good("""\
import torch.nn.functional as F
from torch import nn

class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.out = nn.Linear(width, classes)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = F.dropout(self.drop(x), p=0.5, training=self.training)
        return self.out(F.dropout(x, 0.5, self.training))
"""),
        # Noise at prediction time, on purpose.
        Good("""\
import torch.nn.functional as F
from torch import nn

class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        return self.out(x)

    def mc_forward(self, x):
        return self.out(F.dropout(x, p=0.5))

    def predict_often(self, x):
        return [self.out(F.dropout(x, p=0.5, training=True)) for _ in range(10)]

class MCHead(Head):
    def forward(self, x):
        return self.out(F.dropout(x, p=0.5))
"""),
        # Only where somebody trains.
        Good("""\
import torch.nn.functional as F
from torch import nn

class Attention(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    @property
    def dropout(self):
        return self.p if self.training else 0.0

    def forward(self, q, k, v):
        if self.training:
            q = F.dropout(q, self.p)
        k = F.dropout(k, self.p if self.training else 0.0)
        first = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)
        return first + F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)
"""),
        # The caller decides, or nothing is dropped.
        Good("""\
import torch.nn.functional as F
from torch import nn

class Attention(nn.Module):
    def forward(self, q, k, v, dropout_p=0.0, **settings):
        q = F.dropout(q, 0.0)
        k = F.dropout(k, **settings)
        p = 0.1 if self.training else 0.0
        first = F.scaled_dot_product_attention(q, k, v, dropout_p=p)
        return first + F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p) + F.scaled_dot_product_attention(q, k, v)
"""),
        # In no module: data that is made noisy; another function of the same name.
        Good("""\
import torch
import torch.nn.functional as F
from torch import nn
from layers import dropout

def damage(batch):
    batch["features"] = F.dropout(batch["features"], 0.1)
    return batch

class Net(nn.Module):
    def forward(self, x):
        return dropout(x, 0.1)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for dropout in facts.dropouts():
            if dropout.is_always_on is not YES:
                continue
            call, module = dropout.call, dropout.module
            place = dropout.probability.value_place if dropout.probability is not None else None
            if dropout.is_of_attention and place is not None:
                yield self.report(
                    call.place,
                    f"drops `{place.text}` in evaluation too",
                    help="drop nothing unless the module is in training",
                    fix=[Replace(place.range, f"{place.text} if {module}.training else 0.0")]
                    if module is not None
                    else (),
                    safe=True,
                )
            else:
                yield self.report(
                    call.place,
                    f"`{call.callee}` drops in evaluation too",
                    help="pass `training=self.training`",
                    fix=[SetArgument(call.place.range, "training", f"{module}.training")] if module is not None else (),
                    safe=True,
                )
