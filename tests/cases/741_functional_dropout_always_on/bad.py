import lightning as L
import torch
from torch import nn


class Encoder(L.LightningModule):
    def __init__(self, width=128, depth=4, p=0.3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, 2)
        self.p = p

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
            x = nn.functional.dropout(x, self.p)  # EXPECT: functional_dropout_always_on
        return self.out(x)

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self(batch["x"]), batch["y"])

    def validation_step(self, batch, _):
        self.log("loss", nn.functional.cross_entropy(self(batch["x"]), batch["y"]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
