"""LLM406 optimizer-before-parameters."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, LateChange, Report, Rule, Severity


class OptimizerBeforeParameters(Rule):
    """An optimizer is made before its model is complete, and never trains what comes later.

    An optimizer keeps the parameters that it is given, as objects. A layer that the model is given afterwards, adapters,
    and the shards of FSDP are other objects: they get gradients, the optimizer steps past them, and the loss falls a
    little or not at all. Nothing is raised. With adapters it is worse, since the parameters that the optimizer has are
    frozen then: nothing is trained.

    `cuda()` and `to()` move parameters and leave them the same objects, so that most optimizers may be made before. But
    Adagrad makes its sums when it is made, any optimizer has some after `load_state_dict`, and these stay where they
    are: the first step on a GPU raises that tensors lie on two devices.

    Make the optimizer last, after all that changes the model.

    Silent are wrappers that keep the parameters (DDP, `torch.compile`, `accelerator.prepare`, FSDP with
    `use_orig_params`), a program that makes another optimizer or a trainer afterwards or calls `add_param_group`, and a
    model that is changed when its training is over.
    """

    code = "LLM406"
    severity = Severity.ERROR
    triggers = ("parameters(",)
    bad = [
        # A head of its own for a model that comes with one.
        Bad("""\
import torch
from torchvision import models

def build(classes):
    torch.manual_seed(0)
    model = models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # <- made before `model.fc`, whose parameters it never trains
    model.fc = torch.nn.Linear(model.fc.in_features, classes)
    return model, optimizer
"""),
        # Adapters.
        Bad("""\
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("facebook/opt-125m")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)  # <- made before `get_peft_model`, whose parameters it never trains
model = get_peft_model(model, LoraConfig(r=8))
model.train()
for batch in torch.load("batches.pt"):
    model(**batch).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""),
        # A class whose methods share the model: Adagrad has its sums already.
        Bad("""\
import torch
from torch import nn

class Ranker:
    def __init__(self, width):
        self.net = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adagrad(self.net.parameters(), lr=0.01)  # <- made before `self.net.to`, and what it keeps for each parameter stays on the CPU

    def fit(self, loader, device):
        self.net.to(device)
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.net(x.to(device)), y.to(device)).backward()
            self.optimizer.step()
"""),
        # What was saved is loaded on the CPU; a helper makes the optimizer.
        Bad("""\
import torch
from torch import nn

def make_optimizer(net):
    return torch.optim.AdamW(net.parameters(), lr=1e-3)  # <- made before `net.cuda`, and what it keeps

def resume(path):
    torch.manual_seed(0)
    net = nn.Linear(8, 8)
    optimizer = make_optimizer(net)
    saved = torch.load(path, map_location="cpu", weights_only=True)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    net.cuda()
    return net, optimizer
"""),
        # A module whose last layer comes too late; cells of a notebook.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom torch import nn\n\nclass Tagger(nn.Module):\n    def __init__(self, width, tags):\n"
                        "        super().__init__()\n        self.encoder = nn.LSTM(width, width)\n"
                        "        self.optimizer = torch.optim.Adam(self.parameters())  # <- made before `self.head`\n"
                        "        self.head = nn.Linear(width, tags)\n\n    def forward(self, x):\n        return self.head(self.encoder(x)[0])"
                    ),
                    "torch.manual_seed(0)\ntagger = Tagger(8, 3)",
                ]
            }
        ),
        # Shards. What lies somewhere that is not seen is a warning.
        Bad("""\
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def prepare(model, rank):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)  # <- made before `FSDP`, whose parameters it never trains
    model = FSDP(model, device_id=rank)
    return model, optimizer
"""),
        Bad(
            """\
import torch

def train(net, loader):
    optimizer = torch.optim.Adagrad(net.parameters())  # <- made before `net.cuda`, and what it keeps for each parameter stays where `net` was
    net.cuda()
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
            severity=Severity.WARNING,
        ),
    ]
    good = [
        Good("""\
import torch
from torchvision import models

def build(classes):
    torch.manual_seed(0)
    model = models.resnet18(weights="DEFAULT")
    model.fc = torch.nn.Linear(model.fc.in_features, classes)
    model.cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    return model, optimizer
"""),
        # Parameters keep their identity, and these optimizers have nothing yet.
        Good("""\
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def build(rank):
    torch.manual_seed(0)
    net = nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(net.parameters())
    net.to(rank)
    net = DDP(torch.compile(net), device_ids=[rank])
    return net, optimizer
"""),
        # Another optimizer for the second stage, a group for the new layer, a trainer of its own.
        Good("""\
import torch
from torchvision import models

def two_stages(classes, train):
    torch.manual_seed(0)
    model = models.resnet18()
    train(model, torch.optim.SGD(model.parameters(), lr=0.1))
    model.fc = torch.nn.Linear(512, classes)
    train(model, torch.optim.SGD(model.parameters(), lr=0.01))

def with_a_group(classes):
    torch.manual_seed(0)
    model = models.resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = torch.nn.Linear(512, classes)
    optimizer.add_param_group({"params": model.fc.parameters()})
    return model, optimizer
"""),
        Good("""\
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def run(dataset, loader):
    model = AutoModelForCausalLM.from_pretrained("facebook/opt-125m")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model.train()
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model = get_peft_model(model, LoraConfig(r=8))
    Trainer(model, TrainingArguments("out"), train_dataset=dataset).train()
"""),
        # What is changed when training is over; a layer without parameters; one that only follows.
        Good("""\
import copy
import torch
from torch import nn
from torchvision import models

def features(loader):
    torch.manual_seed(0)
    model = models.resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.fc = nn.Linear(512, 2)
    return model

def backbone():
    torch.manual_seed(0)
    model = models.resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Identity()
    return model, optimizer

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.parameters())
        self.target_policy = nn.Linear(4, 2)
        self.critic = nn.Linear(4, 1)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
"""),
        # The state is moved along, the model already lies there, nothing is moved, or that is the other way.
        Good("""\
import torch
from torch import nn

def resume(path, device):
    torch.manual_seed(0)
    net = nn.Linear(8, 8)
    optimizer = torch.optim.Adagrad(net.parameters())
    optimizer.load_state_dict(torch.load(path, weights_only=True))
    net.to(device)
    for state in optimizer.state.values():
        for key, value in state.items():
            state[key] = value.to(device) if torch.is_tensor(value) else value
    return net, optimizer
"""),
        Good("""\
import torch
from torch import nn

def moved(width, on_gpu):
    torch.manual_seed(0)
    net = nn.Linear(width, width).cuda()
    optimizer = torch.optim.Adagrad(net.parameters())
    net.cuda()
    small = nn.Linear(width, 1)
    other = torch.optim.Adagrad(small.parameters())
    small.to(torch.float64)
    small.to("cpu")
    third = nn.Linear(width, 1)
    if not on_gpu:
        last = torch.optim.Adagrad(third.parameters())
    else:
        third.cuda()
        last = None
    return optimizer, other, last
"""),
        # FSDP keeps the parameters; somebody else may begin anew.
        Good("""\
import torch
from project import setup_optimizer
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def prepare(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model = FSDP(model, use_orig_params=True)
    return model, optimizer

def anew(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model = FSDP(model)
    optimizer = setup_optimizer(model, optimizer)
    return model, optimizer
"""),
        # Each round of a loop has its own.
        Good("""\
import torch
from torch import nn

def folds(loaders):
    torch.manual_seed(0)
    for loader in loaders:
        net = nn.Linear(8, 2)
        net.cuda()
        optimizer = torch.optim.Adagrad(net.parameters())
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        faults = {late.optimizer.record.id: late for late in facts.late_changes() if is_a_fault(late)}
        made = [late.optimizer for late in faults.values()]
        for call, place in facts.where_all_chains_agree(made, lambda one: one.record.id in faults, in_this_module=True):
            late = faults[call.record.id]
            is_sure = not late.is_move or late.was_elsewhere is YES
            yield self.report(
                place,
                f"the optimizer is made before `{late.text}`, {what_follows(late)}",
                severity=None if is_sure else Severity.WARNING,
                related=[(late.change.place, "changes the model")],
                help="make the optimizer after all that changes the model",
            )


def is_a_fault(late: LateChange) -> bool:
    return late.is_followed is NO and not (late.is_move and late.was_elsewhere is NO)


def what_follows(late: LateChange) -> str:
    if not late.is_move:
        return "whose parameters it never trains"
    where = "on the CPU" if late.was_elsewhere is YES else f"where `{late.text.rpartition('.')[0]}` was"
    return f"and what it keeps for each parameter stays {where}"
