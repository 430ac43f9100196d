import argparse

import torch
from torch.cuda.amp import GradScaler, autocast


def train_one_epoch(model, criterion, optimizer, loader, args, scaler=None):
    model.train()
    for image, target in loader:
        with autocast(enabled=scaler is not None):
            loss = criterion(model(image), target)
        optimizer.zero_grad()
        if scaler is not None:
            scaler.scale(loss).backward()
            if args.clip_grad_norm is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            if args.clip_grad_norm is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
            optimizer.step()


def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scaler = GradScaler() if args.amp else None
    for _ in range(args.epochs):
        train_one_epoch(model, torch.nn.CrossEntropyLoss(), optimizer, loader, args, scaler)


def parser():
    options = argparse.ArgumentParser()
    options.add_argument("--amp", action="store_true")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--lr", type=float, default=0.1)
    options.add_argument("--clip-grad-norm", type=float)
    return options
