import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "cross-encoder/ms-marco-MiniLM-L-6-v2"
TOKENIZE = dict(padding=True, truncation=True, max_length=256, return_tensors="pt")

tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSequenceClassification.from_pretrained(NAME)


@torch.inference_mode()
def rank(question: str, passages: list[str]) -> list[int]:
    batch = tokenizer([question] * len(passages), passages, **TOKENIZE)  # EXPECT: silent_truncation
    return model(**batch).logits.squeeze(-1).argsort(descending=True).tolist()


if __name__ == "__main__":
    with open("passages.txt", encoding="utf-8") as handle:
        print(rank(input("question: "), handle.read().split("\n\n")))
