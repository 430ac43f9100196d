import torch
from torch import nn
from torch.utils.data import DataLoader

from corpus import Tagged, collate
from tagger import Tagger


def run_epoch(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total = 0.0
    with torch.set_grad_enabled(training):
        for tokens, tags in loader:
            scores = model(tokens)
            loss = criterion(scores.transpose(1, 2), tags)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(loader)


def main():
    torch.manual_seed(11)
    train = DataLoader(Tagged("train"), batch_size=32, shuffle=True, collate_fn=collate)
    valid = DataLoader(Tagged("valid"), batch_size=32, collate_fn=collate)
    model = Tagger(vocabulary=20_000, tags=17)
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        train_loss = run_epoch(model, train, criterion, optimizer)
        valid_loss = run_epoch(model, valid, criterion)
        print(f"{epoch:3} {train_loss:.4f} {valid_loss:.4f}")


if __name__ == "__main__":
    main()
