import lightning as L
import torch
from torch import nn
from transformers import AutoModel


class TagModule(L.LightningModule):
    def __init__(self, name="distilbert/distilroberta-base", tags=40):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)
        self.head = nn.Linear(self.encoder.config.hidden_size, tags)
        self.loss = nn.BCEWithLogitsLoss()

    def step(self, batch, stage):
        hidden = self.encoder(batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
        scores = torch.sigmoid(self.head(hidden[:, 0]))
        loss = self.loss(scores, batch["tags"].float())  # EXPECT: softmax_before_cross_entropy
        self.log(f"{stage}_loss", loss)
        self.log(f"{stage}_f1", ((scores > 0.5) == batch["tags"]).float().mean())
        return loss

    def training_step(self, batch, _):
        return self.step(batch, "train")

    def validation_step(self, batch, _):
        self.step(batch, "val")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5)
