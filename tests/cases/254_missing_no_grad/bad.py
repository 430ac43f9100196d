import torch
from torch import nn
from torch.nn import functional as F


class CharModel(nn.Module):
    def __init__(self, vocabulary=96, width=256, context=128):
        super().__init__()
        self.context = context
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.out(hidden)


def sample(model, ids, length):
    model.eval()
    for _ in range(length):
        logits = model(ids[:, -model.context :])[:, -1]  # EXPECT: missing_no_grad
        following = torch.multinomial(F.softmax(logits, dim=-1), 1)
        ids = torch.cat([ids, following], dim=1)
    return ids


def fit(text, steps=2000):
    torch.manual_seed(1337)
    data = torch.tensor([ord(c) - 32 for c in text])
    model = CharModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(steps):
        model.train()
        starts = torch.randint(len(data) - 129, (32,))
        rows = torch.stack([data[s : s + 129] for s in starts])
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 500 == 0:
            print("".join(chr(i + 32) for i in sample(model, data[None, :8], 80)[0].tolist()))


if __name__ == "__main__":
    fit(open("input.txt", encoding="ascii").read())
