import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "cardiffnlp/twitter-roberta-base-sentiment-latest"


class Scorer:
    def __init__(self, device="cuda:0"):
        self.tokenizer = AutoTokenizer.from_pretrained(NAME)
        self.model = AutoModelForSequenceClassification.from_pretrained(NAME).to(device)
        self.model.eval()
        self.reference = AutoModelForSequenceClassification.from_pretrained(NAME)

    @torch.no_grad()
    def score(self, text):
        inputs = self.tokenizer(text, return_tensors="pt")
        expected = self.reference(**inputs).logits
        inputs = {name: part.to(self.model.device) for name, part in inputs.items()}
        logits = self.model(**inputs).logits
        return logits.softmax(-1).tolist(), expected.softmax(-1).tolist()


if __name__ == "__main__":
    print(Scorer().score("what a day"))
