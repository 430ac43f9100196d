import copy
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW
from transformers import AutoModelForMaskedLM, set_seed

from shards import loader


@torch.no_grad()
def evaluate(average, batches, device):
    total = torch.zeros(2, device=device)
    average.eval()
    for batch in batches:
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        total += torch.stack([average(**batch).loss, torch.ones((), device=device)])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    set_seed(1)
    model = AutoModelForMaskedLM.from_pretrained("roberta-base").to(rank)
    average = copy.deepcopy(model)
    ddp = DistributedDataParallel(model, device_ids=[rank])
    optimizer = AdamW(ddp.parameters(), lr=1e-4)
    for step, batch in enumerate(loader("train", rank)):
        loss = ddp(**{name: tensor.to(rank) for name, tensor in batch.items()}).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(average.parameters(), model.parameters()):
                old.lerp_(new, 0.01)
        if step % 1000 == 0:
            print(step, evaluate(average, loader("valid", rank), rank))


if __name__ == "__main__":
    main()
