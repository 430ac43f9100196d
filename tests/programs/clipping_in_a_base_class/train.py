import torch
from loop import Loop
from transformers import AutoModelForSequenceClassification

class Classifier(Loop):
    def build(self):
        return AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)

    def loss_of(self, batch):
        return self.model(**batch).loss

if __name__ == "__main__":
    torch.manual_seed(0)
    Classifier().fit(torch.load("train.pt", weights_only=True))
