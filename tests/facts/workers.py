"""What the worker processes of a loader do with one dataset."""
import numpy as np
from things import options, start_worker
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Noisy(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.normal()


class Plain(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index] + np.random.normal()


class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        for row in self.rows:
            yield row


class Parts(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        for row in self.rows[self.worker :: 4]:
            yield row


DataLoader(Noisy(options.rows), num_workers=4)  # fact: has workers yes; draws apart no; is divided unknown
DataLoader(Noisy(options.rows))  # fact: has workers no
DataLoader(Noisy(options.rows), num_workers=options.workers)  # fact: has workers unknown
DataLoader(Noisy(options.rows), num_workers=4, worker_init_fn=start_worker)  # fact: draws apart unknown
DataLoader(Plain(options.rows), num_workers=4)  # fact: draws apart unknown
DataLoader(Rows(options.rows), num_workers=2)  # fact: has workers yes; is divided no; draws apart unknown
DataLoader(Rows(options.rows), num_workers=1)  # fact: has workers no; is divided no
DataLoader(Parts(options.rows), num_workers=2)  # fact: is divided unknown
DataLoader(options.dataset, num_workers=2)  # fact: untold is divided
