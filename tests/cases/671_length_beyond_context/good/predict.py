import torch
from settings import MAX_TOKENS, MODEL
from transformers import AutoTokenizer, BertForMaskedLM


def main(sentences):
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = BertForMaskedLM.from_pretrained(MODEL)
    for sentence in sentences:
        batch = tokenizer(sentence, padding="max_length", max_length=MAX_TOKENS, return_tensors="pt")
        with torch.no_grad():
            print(tokenizer.decode(model(**batch).logits.argmax(-1)[0]))


if __name__ == "__main__":
    main(["Berlin is [MASK]."])
