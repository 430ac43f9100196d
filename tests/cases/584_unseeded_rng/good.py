import torch
from torch import nn
from transformers import AutoModel


class Matcher(nn.Module):
    """Cosine of two pretrained encoders: nothing in it is drawn."""

    def __init__(self, left="FacebookAI/roberta-base", right="FacebookAI/roberta-base"):
        super().__init__()
        self.left = AutoModel.from_pretrained(left)
        self.right = AutoModel.from_pretrained(right)

    def forward(self, a, b):
        one = self.left(**a).last_hidden_state[:, 0]
        two = self.right(**b).last_hidden_state[:, 0]
        return nn.functional.cosine_similarity(one, two)


def main():
    batches = torch.load("batches.pt", weights_only=True)
    model = Matcher()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for a, b, target in batches:
        loss = nn.functional.mse_loss(model(a, b), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "matcher.pt")


if __name__ == "__main__":
    main()
