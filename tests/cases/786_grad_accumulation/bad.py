import torch
from torch import nn


class Fitter:
    def __init__(self, net, micro_batches):
        self.net, self.micro_batches = net, micro_batches
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train_epoch(self, loader):
        self.net.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            for part, target in zip(x.chunk(self.micro_batches), y.chunk(self.micro_batches)):
                loss = self.criterion(self.net(part), target)
                loss.backward()  # EXPECT: grad_accumulation
            self.optimizer.step()
