import torch
from torch import nn
from transformers import AutoModel


class Matcher(nn.Module):
    def __init__(self, name="FacebookAI/roberta-base"):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)
        self.head = nn.Linear(self.encoder.config.hidden_size, 2)

    def forward(self, **batch):
        return self.head(self.encoder(**batch).last_hidden_state[:, 0])


def main():
    batches = torch.load("batches.pt", weights_only=True)
    model = Matcher()  # EXPECT: unseeded_rng
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for batch in batches:
        labels = batch.pop("labels")
        loss = nn.functional.cross_entropy(model(**batch), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "matcher.pt")


if __name__ == "__main__":
    main()
