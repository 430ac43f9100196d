"""What one round of a training loop does with gradients, and in which order."""
import torch
from things import callbacks, finish, loader, make, settings

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    model(batch).sum().backward()
    optimizer.step()  # fact: is ever cleared no; is cleared in time unknown
for batch in loader:
    model(batch).sum().backward()
    optimizer.step()  # fact: is ever cleared yes; is cleared in time unknown
    optimizer.zero_grad()
for batch in loader:
    model(batch).sum().backward()
    model.zero_grad()
    optimizer.step()  # fact: is ever cleared yes; is cleared in time no
for index, batch in enumerate(loader):
    optimizer.zero_grad()
    model(batch).sum().backward()
    if index % 2:
        optimizer.step()  # fact: is cleared in time no
for index, batch in enumerate(loader):
    optimizer.zero_grad()
    model(batch).sum().backward()
    if settings.step:
        optimizer.step()  # fact: is cleared in time unknown
for batch in loader:
    model(batch).sum().backward()
    finish(optimizer)
    optimizer.step()  # fact: is ever cleared unknown
for batch in loader:
    model(batch).sum().backward()
    callbacks.on_step(batch)
    optimizer.step()  # fact: is ever cleared unknown
model(1).sum().backward()
optimizer.step()  # fact: untold is ever cleared
# ======== by hand, and by other names
import torch
from things import loader


def by_hand(model, optimizer):
    for batch in loader:
        model(batch).sum().backward()
        for parameter in model.parameters():
            parameter.grad = None
        optimizer.step()  # fact: is ever cleared unknown


def with_a_closure(model, optimizer, closure):
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step(closure)  # fact: untold is ever cleared


def of_its_own(model):
    for batch in loader:
        own = torch.optim.SGD(model.parameters(), lr=0.1)
        model(batch).sum().backward()
        own.step()  # fact: is ever cleared unknown


def two(model, optimizer, opt_other):
    for batch in loader:
        model(batch).sum().backward()
        model.zero_grad()
        optimizer.step()  # fact: is cleared in time unknown
        opt_other.step()
# ======== what is called beside them
import torch
from things import loader


def in_a_loop_that_counts(model, optimizer, settings):
    for index, batch in enumerate(loader):
        model(batch).sum().backward()
        if index % settings.accumulation_iters() != 0:
            optimizer.step()  # fact: is ever cleared no


def in_a_loop_that_tells(model, optimizer, settings):
    for batch in loader:
        model(batch).sum().backward()
        settings.on_batch(batch)
        optimizer.step()  # fact: is ever cleared unknown


def of_a_factory(model, make_optimizer):
    optimizer = make_optimizer(model)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()  # fact: is ever cleared no


def of_a_factory_that_is_called_anew(model, make_optimizer):
    for batch in loader:
        optimizer = make_optimizer(model)
        model(batch).sum().backward()
        optimizer.step()  # fact: is ever cleared unknown
