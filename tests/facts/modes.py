"""In which mode a model is asked for results, whether that matters to it, and whether that is meant."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.head = nn.Linear(8, 2)
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.head(self.drop(x))


net = Net()
net.load_state_dict(torch.load("net.pt"))
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: is in training mode yes; differs by mode yes; is of what was learned yes
# ======== after eval()
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.BatchNorm1d(2))
net.load_state_dict(torch.load("net.pt"))
net.eval()
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: is in training mode no; differs by mode yes
# ======== eval() on one way only
import sys
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.Dropout())
net.load_state_dict(torch.load("net.pt"))
if len(sys.argv) > 1:
    net.eval()
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: is in training mode unknown
# ======== layers that don't care
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.GELU())
net.load_state_dict(torch.load("net.pt"))
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: is in training mode yes; differs by mode no
# ======== a rate from outside
import sys
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.Dropout(float(sys.argv[1])))
net.load_state_dict(torch.load("net.pt"))
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: differs by mode unknown
# ======== a rate of zero
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.Dropout(p=0.0))
net.load_state_dict(torch.load("net.pt"))
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: differs by mode unknown
# ======== a family whose configuration drops something
import torch
from transformers import RobertaConfig, RobertaModel

model = RobertaModel(RobertaConfig())
model.load_state_dict(torch.load("roberta.pt"))
with torch.no_grad():
    print(model(torch.ones(1, 8).long()).pooler_output)  # fact: is in training mode yes; differs by mode yes
# ======== the same, told not to
import torch
from transformers import RobertaConfig, RobertaModel

config = RobertaConfig()
config.hidden_dropout_prob = 0.0
model = RobertaModel(config)
model.load_state_dict(torch.load("roberta.pt"))
with torch.no_grad():
    print(model(torch.ones(1, 8).long()).pooler_output)  # fact: is in training mode yes; differs by mode unknown
# ======== unknown code has had it
import torch
from torch import nn
from toolbox import warm_up

net = nn.Sequential(nn.Linear(8, 2), nn.Dropout(0.5))
net.load_state_dict(torch.load("net.pt"))
warm_up(net)
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: is in training mode unknown; differs by mode yes
# ======== train() and no training
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.Dropout(0.5))
net.load_state_dict(torch.load("net.pt"))
net.train()
with torch.no_grad():
    print(net(torch.ones(1, 8)))  # fact: is in training mode yes; is of what was learned unknown
# ======== a trained model, and names that tell
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 2), nn.Dropout(0.5))
for x, y in torch.load("train.pt"):
    nn.functional.cross_entropy(net(x), y).backward()
with torch.no_grad():
    for x, y in torch.load("batches.pt"):
        print(net(x))  # fact: is of what was learned unknown
    for x, y in torch.load("validation.pt"):
        print(net(x))  # fact: is of what was learned yes


def mc_samples(x):
    with torch.no_grad():
        return [net(x) for _ in range(9)]  # fact: is of what was learned no


def validate(batches):
    with torch.no_grad():
        found = [net(x) for x in batches]  # fact: is of what was learned yes
    net.train()
    return found


def validate_in_training_mode(batches):
    net.train()
    with torch.no_grad():
        return [net(x) for x in batches]  # fact: is of what was learned unknown


@torch.no_grad()
def held_out_loss(batches):
    return [net(x) for x in batches]  # fact: is of what was learned yes
