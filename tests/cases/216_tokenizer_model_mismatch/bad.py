import transformers as hf
from torch import inference_mode


class Scorer:
    def __init__(self):
        self.tokenizer = hf.AutoTokenizer.from_pretrained("bert-base-uncased")  # EXPECT: tokenizer_model_mismatch
        self.model = self.build()

    def build(self):
        raise NotImplementedError

    @inference_mode()
    def logits(self, text):
        encoded = self.tokenizer(text, return_tensors="pt")
        return self.model(**encoded).logits[0]


class ToneScorer(Scorer):
    def build(self):
        return hf.AutoModelForSequenceClassification.from_pretrained("yiyanghkust/finbert-tone")


if __name__ == "__main__":
    print(ToneScorer().logits("Revenue rose by a tenth."))
