import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from data import loaders
from network import Classifier


@torch.no_grad()
def validate(model, loader, rank):
    model.eval()
    counts = torch.zeros(2, device=rank)
    for inputs, labels in loader:
        outputs = model(inputs.to(rank))
        counts[0] += (outputs.argmax(1) == labels.to(rank)).sum()
        counts[1] += labels.numel()
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


def worker(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.manual_seed(0)
    training, validation = loaders(rank, world_size)
    model = DistributedDataParallel(Classifier().to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for inputs, labels in training:
            loss = F.cross_entropy(model(inputs.to(rank)), labels.to(rank))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        accuracy = validate(model, validation, rank)
        if rank == 0:
            print(epoch, accuracy)


if __name__ == "__main__":
    mp.spawn(worker, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())
