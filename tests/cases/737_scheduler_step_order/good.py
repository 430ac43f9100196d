import torch
from torch import nn, optim


def train_epoch(model, loader, criterion, optimizer, warm, epoch, device):
    model.train()
    total = 0.0
    for index, (images, targets) in enumerate(loader):
        warm.step(epoch + index / len(loader))
        images, targets = images.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), targets)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main(model, loader, epochs=90, device="cuda"):
    torch.manual_seed(0)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 60], gamma=0.1)
    warm = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10)
    for epoch in range(epochs):
        print(epoch, train_epoch(model, loader, criterion, optimizer, warm, epoch, device))
        scheduler.step()
