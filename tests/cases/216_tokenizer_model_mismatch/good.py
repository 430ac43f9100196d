import transformers as hf
from torch import inference_mode


class Scorer:
    checkpoint: str

    def __init__(self):
        self.tokenizer = hf.AutoTokenizer.from_pretrained(self.checkpoint)
        self.model = self.build()

    def build(self):
        return hf.AutoModelForSequenceClassification.from_pretrained(self.checkpoint)

    @inference_mode()
    def logits(self, text):
        encoded = self.tokenizer(text, return_tensors="pt")
        return self.model(**encoded).logits[0]


class ToneScorer(Scorer):
    checkpoint = "yiyanghkust/finbert-tone"


class SentimentScorer(Scorer):
    checkpoint = "ProsusAI/finbert"


if __name__ == "__main__":
    print(ToneScorer().logits("Revenue rose by a tenth."))
    print(SentimentScorer().logits("Revenue rose by a tenth."))
