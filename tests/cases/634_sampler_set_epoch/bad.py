import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def loaders(training, validation, args):
    train_sampler = DistributedSampler(training, shuffle=True)
    valid_sampler = DistributedSampler(validation)
    return (
        DataLoader(training, batch_size=args.batch_size, sampler=train_sampler),
        DataLoader(validation, batch_size=args.batch_size, sampler=valid_sampler),
    )


def main(model, training, validation):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    model = DDP(model.to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    train_loader, valid_loader = loaders(training, validation, args)
    for epoch in range(args.epochs):
        model.train()
        for index, batch in enumerate(train_loader):  # EXPECT: sampler_set_epoch
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        total = torch.zeros((), device=rank)
        with torch.no_grad():
            for batch in valid_loader:
                total += model(**batch).loss
        dist.all_reduce(total)
        print(epoch, total.item())
