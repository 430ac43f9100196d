from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def make_loader(rows, size):
    sampler = DistributedSampler(rows, shuffle=True)
    return DataLoader(rows, batch_size=size, sampler=sampler)
