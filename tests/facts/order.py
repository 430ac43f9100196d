"""Before and after, branches that belong together, exits, rounds, `try`, generators."""
import sys

import torch
from torch import nn
from transformers import AutoModel

model = AutoModel.from_pretrained("gpt2")
amp = sys.argv[1]

dtype = "float16" if amp else "float32"
device = "cuda" if amp else "cpu"
print(dtype + "/" + device)  # fact: passed 'float16/cuda' or 'float32/cpu'
if amp:
    name = "a"
else:
    name = "b"
print(name + dtype)  # fact: passed 'afloat16' or 'bfloat32'
if amp:
    print(dtype)  # fact: passed 'float16' or 'float32'; only if amp
    model.half()
model(1)  # fact: dtype unknown
model.eval()
model(1)  # fact: is in evaluation mode yes
model.train()
model(1)  # fact: is in evaluation mode no
if amp:
    model.eval()
model(1)  # fact: is in evaluation mode unknown


def leaves(flag):
    if flag:
        sys.exit(1)
        model(2)  # fact: not reached
    if False:
        model(3)  # fact: not reached
    if not flag:
        raise ValueError
    else:
        model(4)  # fact: only if not flag | not not flag
    assert False
    model(5)  # fact: not reached


def ends(flag, items):
    for item in items:
        if item:
            continue
            model(1)  # fact: not reached
        if flag:
            break
    else:
        model(2)  # fact: loops 0
    while True:
        model(3)  # fact: loops 1
        if flag:
            return flag
    model(4)  # fact: not reached


def tries(path):
    chosen = "before"
    try:
        chosen = "body"
        chosen = load(path)
    except ValueError as error:
        print(chosen)  # fact: passed 'before' or unknown
        print(error)  # fact: passed unknown
        chosen = "handler"
    except KeyError:
        return
    else:
        chosen = "else"
    finally:
        print(chosen)  # fact: passed 'else' or 'handler'
    print(chosen)  # fact: passed 'else' or 'handler'


try:
    import apex
except ImportError:
    apex = None
print(apex)  # fact: passed apex or None
if apex is not None:
    print(apex)  # fact: passed apex or None


def rounds(items):
    last = "none"
    count = 0
    for item in items:
        print(last)  # fact: passed 'none' or `items[]` from outside
        last = item
        count += 1
    print(last)  # fact: passed 'none' or `items[]` from outside
    print(count)  # fact: passed 0 or unknown


def decided(flag=None, quiet=False):
    if flag is None:
        print("default")  # fact: called builtins.print, in decided
    if quiet:
        return model(1)  # fact: only if quiet
    return model(2)  # fact: gradients yes


decided()
decided(flag=1, quiet=True)
decided(quiet=unknown_flag)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(2, 2)

    def forward(self, x):
        return self.part(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters())
for epoch in range(3):
    for batch in unknown_loader:
        net(batch).sum().backward()
    net.eval()  # fact: is switched back no; is the same in both modes yes
    with torch.no_grad():
        net(batch)
# ======== a mode that unknown code may switch back
import torch
from transformers import AutoModel
from company import prepare

model = AutoModel.from_pretrained("gpt2")
optimizer = torch.optim.SGD(model.parameters())
for epoch in range(3):
    prepare(model)
    for batch in unknown_loader:
        model(batch).loss.backward()
        optimizer.step()
    model.eval()  # fact: is switched back unknown; is the same in both modes no
    with torch.no_grad():
        model(batch)  # fact: is in evaluation mode yes
# ======== scaled gradients, between `scale` and `step`
import torch

scaler = torch.amp.GradScaler("cuda")
for batch in unknown_loader:
    scaler.scale(model(batch)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # fact: gradients are scaled yes
    scaler.step(optimizer)
    scaler.update()
# ======== unscaled before
import torch

scaler = torch.amp.GradScaler("cuda")
for batch in unknown_loader:
    scaler.scale(model(batch)).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # fact: untold gradients are scaled
# ======== unscaled on some way
import torch

scaler = torch.amp.GradScaler("cuda")
for batch in unknown_loader:
    scaler.scale(model(batch)).backward()
    if batch:
        scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # fact: gradients are scaled unknown
# ======== a scaler that may be off
import torch

scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
for batch in unknown_loader:
    scaler.scale(model(batch)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # fact: gradients are scaled yes
# ======== what is assigned in between asks another question
import sys

amp = sys.argv[1]
first = "a" if amp else "b"
print(first + ("c" if fast else "d"))  # fact: passed 'ac' or 'ad' or 'bc' or 'bd'
print(first + ("c" if other() else unknown))  # fact: passed unknown
for step in range(int(amp)):
    first += unknown
print(first)  # fact: passed unknown or 'a' or 'b'
with open(amp) as lines:
    for line in lines:
        last = line
    print(last)  # fact: passed unknown
# ======== a round that may be the last
from transformers import AutoModel

model = AutoModel.from_pretrained("gpt2")
for batch in unknown_loader:
    model(batch)  # fact: is in evaluation mode unknown
    if batch.ends:
        model.train()
model(1)  # fact: is in evaluation mode unknown
for batch in unknown_loader:
    model.train()
    model(batch)  # fact: is in evaluation mode no


def later(batch):
    if batch.first:
        model.eval()
    else:
        unknown_setup(model)
    model(batch)  # fact: is in evaluation mode unknown
# ==================================================
"""Phases of an epoch, and models that a loop runs through."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1))
optimizer = torch.optim.SGD(model.parameters())
for epoch in range(3):
    for phase in ("train", "val"):
        if phase == "val":
            model.eval()  # fact: is meant to train yes
        for batch in batches[phase]:
            loss = model(batch).sum()
            if phase == "train":
                loss.backward()
                optimizer.step()
# ==================================================
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1))
optimizer = torch.optim.SGD(model.parameters())
for epoch in range(3):
    for phase in ("val", "train"):
        if phase == "val":
            model.eval()  # fact: is meant to train unknown
        for batch in batches[phase]:
            loss = model(batch).sum()
            if phase == "train":
                loss.backward()
                optimizer.step()
# ==================================================
import torch
from torch import nn

first = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1))
second = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1))
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()])
for epoch in range(3):
    second(first(batch)).sum().backward()
    optimizer.step()
    for net in (first, second):
        net.eval()  # fact: is made anew no
for epoch in range(3):
    for net in (nn.Dropout(0.1), nn.Dropout(0.2)):
        net(batch).sum().backward()
        net.eval()  # fact: is made anew yes
for epoch in range(3):
    for phase in unknown_phases:
        if phase == "val":
            first.eval()  # fact: is meant to train unknown
        loss = first(batch).sum()
        if phase == "train":
            loss.backward()
            optimizer.step()
# ==================================================
"""Loops that count epochs."""
from torch.utils.data import DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader

loader = StatefulDataLoader(dataset, sampler=DistributedSampler(dataset))
for epoch in unknown_epochs:
    for batch in loader:  # fact: repeats yes; is shuffled yes
        model(batch).loss.backward()
for part in unknown_parts:
    for batch in loader:  # fact: repeats unknown
        model(batch).loss.backward()
