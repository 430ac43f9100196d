import random

import torch
from torch.utils.data import DataLoader, Dataset


class MaskedTokens(Dataset):
    """Fifteen in a hundred tokens are masked."""

    def __init__(self, rows, mask_id, seed=13):
        self.rows, self.mask_id = rows, mask_id
        self.random = random.Random(seed)

    def __len__(self):
        return len(self.rows)

    def _mask(self, ids):
        return [self.mask_id if self.random.random() < 0.15 else id for id in ids]

    def __getitem__(self, index):
        ids = self.rows[index]
        return {"input_ids": torch.tensor(self._mask(ids)), "labels": torch.tensor(ids)}


def make_loader(rows, mask_id, workers=8):
    torch.manual_seed(0)
    dataset = MaskedTokens(rows, mask_id)
    return DataLoader(dataset, batch_size=32, shuffle=True, num_workers=workers, persistent_workers=True)  # EXPECT: dataloader_worker_seeding
