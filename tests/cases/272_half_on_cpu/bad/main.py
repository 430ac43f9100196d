import torch
from torch import nn

from devices import prepare


class Scorer(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, features):
        return self.layers(features).squeeze(-1)


def main():
    torch.manual_seed(0)
    scorer = Scorer()
    scorer.load_state_dict(torch.load("scorer.pt", weights_only=True))
    scorer = prepare(scorer, "cpu").eval()
    with torch.no_grad():
        print(scorer(torch.zeros(1, 64).half()))


if __name__ == "__main__":
    main()
