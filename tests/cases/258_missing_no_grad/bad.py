import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from pairs import PairDataset


class Matcher(nn.Module):
    def __init__(self, width=300):
        super().__init__()
        self.rnn = nn.LSTM(width, 128, batch_first=True, bidirectional=True)
        self.score = nn.Linear(512, 2)

    def forward(self, left, right):
        a, b = self.rnn(left)[0].mean(1), self.rnn(right)[0].mean(1)
        return self.score(torch.cat([a, b], dim=-1))


def main():
    torch.manual_seed(0)
    train, valid, test = (
        DataLoader(PairDataset(name), batch_size=64, shuffle=name == "train") for name in ("train", "valid", "test")
    )
    matcher = Matcher().cuda()
    optimizer = torch.optim.Adam(matcher.parameters(), lr=1e-3)
    for epoch in range(5):
        matcher.train()
        for left, right, label in train:
            loss = F.cross_entropy(matcher(left.cuda(), right.cuda()), label.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        matcher.eval()
        with torch.no_grad():
            hits = [(matcher(a.cuda(), b.cuda()).argmax(-1).cpu() == y).float().mean() for a, b, y in valid]
        print(epoch, torch.stack(hits).mean().item())

    scores = []
    for left, right, _ in test:
        scores.append(matcher(left.cuda(), right.cuda()).softmax(-1))  # EXPECT: missing_no_grad
    torch.save(torch.cat(scores), "scores.pt")


if __name__ == "__main__":
    main()
