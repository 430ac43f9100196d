import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler


class Runner:
    def __init__(self, model, dataset, optimizer, distributed):
        self.model = model
        self.optimizer = optimizer
        self.sampler = DistributedSampler(dataset) if distributed else RandomSampler(dataset)
        self.loader = DataLoader(dataset, batch_size=32, sampler=self.sampler)
        self.distributed = distributed

    def _batch(self, batch):
        loss = self.model(**batch).loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def _epoch(self, epoch):
        torch.manual_seed(epoch)
        total = 0.0
        for batch in self.loader:  # EXPECT: sampler_set_epoch
            total += self._batch(batch)
        print(epoch, total)

    def fit(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            self._epoch(epoch)
