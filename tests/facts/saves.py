"""What the processes of one training write to disk."""
import io

import torch
import torch.distributed as dist
from things import is_first, model, path, settings

dist.init_process_group("nccl")
torch.save(model.state_dict(), path)  # fact: is reached by all yes; is for one no
if dist.get_rank() == 0:
    torch.save(model.state_dict(), path)  # fact: is for one unknown
if is_first():
    torch.save(model.state_dict(), path)  # fact: is for one unknown
if settings.step % 5 == 0:
    torch.save(model.state_dict(), path)  # fact: is for one no
if settings.saves:
    torch.save(model.state_dict(), path)  # fact: is for one unknown
torch.save(model.state_dict(), io.BytesIO())  # fact: is for one unknown
torch.save(model.state_dict(), f"{dist.get_rank()}.pt")  # fact: is for one unknown


def elsewhere(model, path):
    torch.save(model.state_dict(), path)  # fact: is reached by all unknown


def together(model, path):
    torch.save(model.state_dict(), path)  # fact: is reached by all yes
    dist.barrier()
