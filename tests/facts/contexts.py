"""Gradients, autocast, inference mode, accumulation, rank and device guards, loops."""
import contextlib
import functools

import lightning
import torch
from accelerate import Accelerator
from transformers import AutoModel

model = AutoModel.from_pretrained("gpt2")
accelerator = Accelerator()
rank = get_rank()

model(1)  # fact: gradients yes; autocast no
with torch.no_grad():
    model(1)  # fact: gradients no
    with torch.enable_grad():
        model(1)  # fact: gradients yes
    with torch.set_grad_enabled(is_training()):
        model(1)  # fact: gradients unknown
with torch.inference_mode():
    model(1)  # fact: gradients no
with torch.inference_mode(mode=False):
    model(1)  # fact: gradients yes
with torch.autocast("cuda", dtype=torch.bfloat16):
    model(1)  # fact: autocast yes; gradients yes
    with torch.autocast("cuda", enabled=False):
        model(1)  # fact: autocast no
with torch.autocast("cuda", enabled=use_amp()):
    model(1)  # fact: autocast unknown
with accelerator.accumulate(model):
    model(1)  # fact: gradients yes
with accelerator.autocast():
    model(1)  # fact: gradients yes; autocast unknown
with strange():
    model(1)  # fact: gradients unknown; autocast unknown
with open("file") as handle:
    model(1)  # fact: gradients yes
with contextlib.nullcontext():
    model(1)  # fact: gradients yes
with torch.no_grad() if rank else contextlib.nullcontext():
    model(1)  # fact: gradients unknown
if rank == 0:
    model(1)  # fact: only if rank == 0
else:
    model(1)  # fact: only if not rank == 0
if torch.cuda.is_available():
    model.to("cuda")
    model(1)  # fact: only if torch.cuda.is_available(); device cuda
model(1)  # fact: device cuda or cpu; dtype unknown


def guarded(batches):
    if rank != 0:
        return
    model(batches)  # fact: only if not rank != 0
    for batch in batches:
        model(batch)  # fact: loops 2
        for part in batch:
            model(part)  # fact: loops 3
    while more():
        model(batches)  # fact: loops 2
    print([model(batch) for batch in batches])  # fact: loops 1


for epoch in range(3):
    guarded(epoch)


@torch.no_grad()
def decorated(batch):
    return model(batch)  # fact: gradients no


@torch.inference_mode
def decorated_without_brackets(batch):
    return model(batch)  # fact: gradients no


@registry.register("name")
def decorated_by_somebody(batch):
    return model(batch)  # fact: gradients unknown


def no_grad_if_eval(function):
    @functools.wraps(function)
    def wrapper(self, *args):
        with torch.set_grad_enabled(self.training):
            return function(self, *args)

    return wrapper


class Scorer(torch.nn.Module):
    @no_grad_if_eval
    def score(self, batch):
        return model(batch)  # fact: gradients unknown

    @torch.no_grad()
    def quiet(self, batch):
        return model(batch)  # fact: gradients no


@contextlib.contextmanager
def eval_mode(module):
    was = module.training
    module.eval()
    with torch.no_grad():
        yield module
    module.train(was)


@contextlib.contextmanager
def timed():
    yield


class Quiet:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, *error):
        torch.set_grad_enabled(self.before)


with eval_mode(model) as evaluated:
    evaluated(1)  # fact: gradients no; is in evaluation mode unknown
with timed():
    model(1)  # fact: gradients yes
with Quiet():
    model(1)  # fact: gradients no


def helper(batch):
    return model(batch)  # fact: gradients no | yes


with torch.no_grad():
    helper(1)
helper(2)


def rows(batches):
    for batch in batches:
        yield model(batch)  # fact: gradients yes


with torch.no_grad():
    made = rows([1])
for row in made:
    print(row)


@torch.no_grad()
def quiet_rows(batches):
    for batch in batches:
        yield model(batch)  # fact: gradients no


for row in quiet_rows([1]):
    print(row)


@torch.no_grad()
async def answer(batch):
    return model(batch)  # fact: gradients yes


class Module(lightning.LightningModule):
    def training_step(self, batch, index):
        return self.net(batch)  # fact: gradients yes; autocast unknown

    def validation_step(self, batch, index):
        return self.net(batch)  # fact: gradients no


apply_later(lambda: model(1))  # fact: called , in the module
with torch.inference_mode(is_serving()):
    model(1)  # fact: gradients unknown
with torch.profiler.profile():
    model(1)  # fact: gradients yes
with contextlib.suppress(ValueError), timing.clock():
    model(1)  # fact: gradients unknown; autocast unknown
with make_context() as context:
    context(1)  # fact: gradients unknown
with contextlib.ExitStack() as stack:
    if rank:
        stack.enter_context(torch.no_grad())
    model(1)  # fact: gradients unknown
# ======== a statement holds until the next, and nobody knows which way it went
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("gpt2")
torch.set_grad_enabled(rank == 0)
model(1)  # fact: gradients unknown


def later(batch):
    model(batch)  # fact: gradients unknown
    with strange_context():
        return model(batch)  # fact: gradients unknown
# ======== decorators that are made
import torch
from transformers import AutoModel


def smart(flag=None):
    def decorate(function):
        return (torch.inference_mode if flag else torch.no_grad)()(function)

    return decorate


def plain(function):
    return torch.no_grad()(function)


def lost(function):
    return unknown_wrapper(function)


model = AutoModel.from_pretrained("gpt2")


@smart()
def chosen(batch):
    return model(batch)  # fact: gradients unknown


@plain
def quiet(batch):
    return model(batch)  # fact: gradients no


@lost
def wrapped(batch):
    return model(batch)  # fact: gradients unknown


chosen(1)
quiet(1)
wrapped(1)
