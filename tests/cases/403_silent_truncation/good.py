import torch
from transformers import BartForSequenceClassification, BartTokenizerFast


class ZeroShot:
    def __init__(self, checkpoint="facebook/bart-large-mnli", max_length=1024):
        self.tokenizer = BartTokenizerFast.from_pretrained(checkpoint)
        self.model = BartForSequenceClassification.from_pretrained(checkpoint)
        self.options = {
            "truncation": "only_first",
            "max_length": max_length,
            "stride": 128,
            "return_overflowing_tokens": True,
            "padding": True,
            "return_tensors": "pt",
        }

    @torch.no_grad()
    def score(self, article, label):
        batch = self.tokenizer(article, f"This text is about {label}.", **self.options)
        batch.pop("overflow_to_sample_mapping")
        return self.model(**batch).logits[:, [0, 2]].softmax(-1)[:, 1].max().item()


if __name__ == "__main__":
    with open("article.txt", encoding="utf-8") as handle:
        text = handle.read()
    scorer = ZeroShot()
    print({label: scorer.score(text, label) for label in ("sports", "politics", "science")})
