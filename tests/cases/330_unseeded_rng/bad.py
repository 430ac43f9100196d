import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(7)
features = np.load("features.npy")
labels = np.load("labels.npy")
train_x, test_x, train_y, test_y = train_test_split(features, labels, test_size=0.2)  # EXPECT: unseeded_rng
probe = nn.Linear(features.shape[1], 2)
optimizer = torch.optim.AdamW(probe.parameters(), lr=1e-3)
for _ in range(200):
    loss = nn.functional.cross_entropy(probe(torch.tensor(train_x)), torch.tensor(train_y))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print((probe(torch.tensor(test_x)).argmax(-1) == torch.tensor(test_y)).float().mean().item())
