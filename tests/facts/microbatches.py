"""Gradients of several batches that one step uses: whether they are divided by their number."""
import torch
import torch.nn.functional as F
from things import loader, loss_of, settings, tasks
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
summed = nn.MSELoss(reduction="sum")
for index, (x, y) in enumerate(loader):
    F.mse_loss(model(x), y).backward()  # fact: is divided no; is accumulation yes
    if index % settings.count == 0:
        optimizer.step()
        optimizer.zero_grad()
for index, (x, y) in enumerate(loader):
    (F.mse_loss(model(x), y) / 4).backward()  # fact: is divided unknown
    if index % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
for batch in loader:
    for x, y in batch.chunk(4):
        summed(model(x), y).backward()  # fact: is divided unknown; is accumulation yes
    optimizer.step()
    optimizer.zero_grad()
for batch in loader:
    for x, y in batch.chunk(4):
        criterion(model(x), y).backward()  # fact: is divided no
    optimizer.step()
    optimizer.zero_grad()
for batch in loader:
    for task in tasks:
        F.mse_loss(model(batch[task]), task).backward()  # fact: is accumulation unknown
    optimizer.step()
    optimizer.zero_grad()
for batch in loader:
    for micro in batch:
        loss_of(model, micro).backward()  # fact: is divided unknown
    optimizer.step()
    optimizer.zero_grad()
for x, y in loader:
    F.mse_loss(model(x), y).backward()  # fact: untold is divided
    optimizer.step()
    optimizer.zero_grad()
