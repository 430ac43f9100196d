"""Gradients that are computed or clipped past an accelerator: what it would have done, and whether that is left out."""
import torch
from accelerate import Accelerator
from things import loader, settings
from torch import nn

accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=4)
plain = Accelerator()
model, other = nn.Linear(2, 1), nn.Linear(2, 1)
model, loader = accelerator.prepare(model, loader)
other = plain.prepare(other)
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # fact: is left out yes; scales for float16 yes; accumulates yes
    nn.functional.mse_loss(other(x), y).backward()  # fact: is left out yes; scales for float16 unknown; accumulates unknown
    if settings.accelerate:
        loss.backward()  # fact: is left out unknown
    accelerator.backward(loss)  # fact: untold is left out
    accelerator.scaler.scale(loss).backward()  # fact: untold is left out
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # fact: scales for float16 yes
    torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)  # fact: scales for float16 unknown
# ======== who decides is not seen
from accelerate import Accelerator
from things import loader, precision, steps


def train(model):
    accelerator = Accelerator(mixed_precision=precision, gradient_accumulation_steps=steps)
    if steps > 1:
        model = accelerator.prepare(model)
    for batch in loader:
        loss = model(batch).sum()
        loss.backward()  # fact: is left out unknown; scales for float16 unknown; accumulates yes
# ======== not of accelerate
from things import Accelerator, loader, model

model = Accelerator().prepare(model)
for batch in loader:
    model(batch).backward()  # fact: untold is left out
# ======== a model that was not prepared, and one that is prepared only later
from accelerate import Accelerator
from things import loader
from torch import nn

accelerator = Accelerator()
model, late = nn.Linear(2, 1), nn.Linear(2, 1)
loader = accelerator.prepare(loader)
for batch in loader:
    model(batch).sum().backward()  # fact: untold is left out
    late(batch).sum().backward()  # fact: untold is left out
late = accelerator.prepare(late)
