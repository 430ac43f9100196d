import lightning as L
import torch
from transformers import AutoModelForSequenceClassification


class Classifier(L.LightningModule):
    def __init__(self, name="bert-base-uncased", lr=2e-5):
        super().__init__()
        self.save_hyperparameters()
        self.model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=2)

    def training_step(self, batch, batch_idx):
        return self.model(**batch).loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.model(**batch).loss)

    def predict(self, tokenizer, texts):
        self.eval()
        inputs = tokenizer(texts, padding=True, return_tensors="pt")
        return self.model(**inputs).logits.argmax(-1).tolist()  # <- LLM301

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
