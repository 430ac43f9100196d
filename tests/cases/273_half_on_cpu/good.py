import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoModel, AutoModelForSequenceClassification

from rows import collate, read_rows


class Finetuner:
    def __init__(self, checkpoint="roberta-large", lr=1e-5):
        torch.manual_seed(17)
        self.model = AutoModelForSequenceClassification.from_pretrained(
            checkpoint, num_labels=4, torch_dtype=torch.bfloat16
        ).to("cuda")
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def step(self, batch):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(**batch.to("cuda")).loss
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, rows, epochs=3):
        loader = DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate)
        self.model.train()
        for epoch in range(epochs):
            print(epoch, sum(self.step(batch) for batch in loader) / len(loader))


class Probe:
    """A float32 head over a frozen base that stays in float16."""

    def __init__(self, checkpoint="roberta-large", labels=4):
        self.base = AutoModel.from_pretrained(checkpoint, torch_dtype=torch.float16).to("cuda")
        self.base.requires_grad_(False)
        self.head = nn.Linear(self.base.config.hidden_size, labels).to("cuda")
        self.optimizer = torch.optim.AdamW(self.head.parameters(), lr=1e-3)

    def step(self, batch):
        labels = batch.pop("labels")
        with torch.no_grad():
            hidden = self.base(**batch).last_hidden_state[:, 0]
        loss = nn.functional.cross_entropy(self.head(hidden.float()), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    Finetuner().fit(read_rows("train.tsv"))
