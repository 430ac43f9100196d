import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification

from rows import collate, read_rows


class Finetuner:
    def __init__(self, checkpoint="roberta-large", lr=1e-5):
        torch.manual_seed(17)
        self.model = AutoModelForSequenceClassification.from_pretrained(
            checkpoint, num_labels=4, torch_dtype=torch.float16
        ).to("cuda")  # EXPECT: half_on_cpu
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


if __name__ == "__main__":
    Finetuner().fit(read_rows("train.tsv"))
