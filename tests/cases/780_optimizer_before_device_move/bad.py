import argparse

import torch
from torch import nn, optim


class ClickModel(nn.Module):
    def __init__(self, fields, width):
        super().__init__()
        self.table = nn.Embedding(fields, width, sparse=True)
        self.out = nn.Linear(width, 1)

    def forward(self, ids):
        return self.out(self.table(ids).sum(1)).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    torch.manual_seed(3)
    net = ClickModel(10_000, 32)
    optimizer = optim.Adagrad(net.parameters(), lr=0.05)  # EXPECT: optimizer_before_device_move
    device = torch.device(args.device)
    net.to(device)
    for ids, clicks in torch.load("clicks.pt", weights_only=True):
        loss = nn.functional.binary_cross_entropy_with_logits(net(ids.to(device)), clicks.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
