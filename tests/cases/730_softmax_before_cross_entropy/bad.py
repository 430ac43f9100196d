import torch
from torch import nn


class SentimentNet(nn.Module):
    def __init__(self, vocabulary: int, classes: int = 5):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, 64)
        self.hidden = nn.Linear(64, 64)
        self.out = nn.Linear(64, classes)

    def forward(self, tokens, offsets):
        x = torch.relu(self.hidden(self.embedding(tokens, offsets)))
        x = self.out(x)
        return torch.softmax(x, dim=1)


def run_epoch(model, loader, criterion, optimizer, device):
    model.train()
    losses = []
    for tokens, offsets, labels in loader:
        optimizer.zero_grad()
        predictions = model(tokens.to(device), offsets.to(device))
        loss = criterion(predictions, labels.to(device))  # EXPECT: softmax_before_cross_entropy
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main(loader, vocabulary, epochs=5):
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SentimentNet(vocabulary).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        print(epoch, run_epoch(model, loader, criterion, optimizer, device))
