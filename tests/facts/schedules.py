"""How learning rate schedules are stepped: before or after their optimizer, with every batch or with every epoch."""
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR
from transformers import get_linear_schedule_with_warmup

from things import loader, make_schedule, settings

epochs = settings.epochs
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
first = StepLR(optimizer, 10)
by_epoch = CosineAnnealingLR(optimizer, T_max=epochs)
by_batch = get_linear_schedule_with_warmup(optimizer, 10, len(loader) * epochs)
unseen = make_schedule(optimizer)
first.step()  # fact: follows the optimizer unknown; comes with every batch unknown
for epoch in range(epochs):
    by_epoch.step()  # fact: follows the optimizer no; is counted in batches no; comes with every batch no
    if settings.early:
        first.step()  # fact: follows the optimizer unknown; is counted in batches unknown
    for batch in loader:
        optimizer.zero_grad()
        model(batch).sum().backward()
        first.step()  # fact: follows the optimizer no
        unseen.step()  # fact: untold follows the optimizer
        optimizer.step()
        first.step()  # fact: follows the optimizer unknown
        by_epoch.step()  # fact: is counted in batches no; comes with every batch yes
        by_batch.step()  # fact: is counted in batches yes; comes with every batch yes
    by_batch.step()  # fact: is counted in batches yes; comes with every batch no
for _ in range(3):
    first.step()  # fact: comes with every batch unknown


def trains_elsewhere(net, run_epoch):
    own = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = StepLR(own, 10)
    for _ in range(3):
        run_epoch(net, own)
        schedule.step()  # fact: follows the optimizer unknown
        net(1).sum().backward()
        own.step()
