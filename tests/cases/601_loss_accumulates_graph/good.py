import torch
from torch import nn
from tqdm import tqdm


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def train_epoch(model, loader, criterion, optimizer, device):
    losses, accuracy = AverageMeter(), AverageMeter()
    model.train()
    for inputs, labels in tqdm(loader):
        inputs, labels = inputs.to(device), labels.to(device)
        logits = model(inputs)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), inputs.size(0))
        accuracy.update((logits.argmax(-1) == labels).float().mean().item(), inputs.size(0))
    return losses.avg, accuracy.avg


def main(loader, epochs=3, device="cuda"):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        print(epoch, *train_epoch(model, loader, nn.CrossEntropyLoss(), optimizer, device))
