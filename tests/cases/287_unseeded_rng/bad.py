import torch
from torch import nn
from torch.utils.data import DataLoader, random_split

from embeddings import EmbeddedPairs

dataset = EmbeddedPairs("pairs.pt")
train_set, valid_set = random_split(dataset, [0.9, 0.1])  # EXPECT: unseeded_rng
train_loader = DataLoader(train_set, batch_size=128, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=128)

model = nn.Bilinear(384, 384, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(5):
    for left, right, label in train_loader:
        loss = loss_fn(model(left, right).squeeze(-1), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        losses = [loss_fn(model(a, b).squeeze(-1), y).item() for a, b, y in valid_loader]
    print(epoch, sum(losses) / len(losses))
