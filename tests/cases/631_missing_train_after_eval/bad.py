import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocabulary, labels):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 64)
        self.encoder = nn.LSTM(64, 64, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(128, labels)

    def forward(self, ids):
        states, _ = self.encoder(self.embedding(ids))
        return self.head(self.dropout(states))


class Fitting:
    def __init__(self, model, optimizer, device):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.device = device
        self.loss = nn.CrossEntropyLoss(ignore_index=-100)

    def step(self, ids, labels):
        scores = self.model(ids.to(self.device))
        loss = self.loss(scores.transpose(1, 2), labels.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self, loader):
        self.model.eval()  # EXPECT: missing_train_after_eval
        hits = total = 0
        for ids, labels in loader:
            found = self.model(ids.to(self.device)).argmax(-1).cpu()
            hits += (found == labels).sum().item()
            total += labels.numel()
        return hits / total

    def fit(self, training, validation, epochs=10):
        self.model.train()
        for epoch in range(epochs):
            losses = [self.step(ids, labels) for ids, labels in training]
            print(epoch, sum(losses) / len(losses), self.accuracy(validation))
