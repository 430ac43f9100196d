import torch
from torch import nn

torch.set_default_dtype(torch.float16)  # EXPECT: half_on_cpu


class Scorer(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.body(x)


def main():
    model = Scorer().to("cpu").eval()
    with torch.no_grad():
        print(model(torch.ones(4, 256)))


if __name__ == "__main__":
    main()
