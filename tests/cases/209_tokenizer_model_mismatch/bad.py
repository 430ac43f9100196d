import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoModel, AutoTokenizer


class TopicModule(L.LightningModule):
    def __init__(self, lr: float = 2e-5, topics: int = 8):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = AutoModel.from_pretrained("distilroberta-base")
        self.head = nn.Linear(self.encoder.config.hidden_size, topics)
        self.loss = nn.CrossEntropyLoss()

    def setup(self, stage=None):
        self.tokenizer = AutoTokenizer.from_pretrained("albert-base-v2")  # EXPECT: tokenizer_model_mismatch

    def collate(self, rows):
        texts, labels = zip(*rows)
        batch = self.tokenizer(list(texts), padding=True, return_tensors="pt")
        batch["labels"] = torch.tensor(labels)
        return batch

    def training_step(self, batch, index):
        labels = batch.pop("labels")
        hidden = self.encoder(**batch).last_hidden_state[:, 0]
        return self.loss(self.head(hidden), labels)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


def run(rows):
    L.seed_everything(1)
    module = TopicModule()
    module.setup()
    loader = DataLoader(rows, batch_size=16, shuffle=True, collate_fn=module.collate)
    L.Trainer(max_epochs=1).fit(module, loader)
