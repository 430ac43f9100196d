import torch
from torch.utils.data import DataLoader, DistributedSampler


def train(model, optimizer, dataset, steps, rank, world):
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank, drop_last=True)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler, num_workers=4)
    batches = iter(loader)
    passes = 0
    model.train()
    for step in range(steps):
        try:
            batch = next(batches)
        except StopIteration:
            passes += 1
            batches = iter(loader)  # EXPECT: sampler_set_epoch
            batch = next(batches)
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return passes


def warm(model, dataset):
    fixed = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=False))
    for _ in range(2):
        for batch in fixed:
            model(**batch).loss.backward()
