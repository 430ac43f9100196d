import pathlib
import sys

import torch
from transformers import AutoModel, AutoTokenizer

NAME = "bert-base-multilingual-cased"


def load():
    return AutoTokenizer.from_pretrained(NAME), AutoModel.from_pretrained(NAME).eval()


@torch.no_grad()
def page_vector(path, tokenizer, model):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    encoded = tokenizer(text, return_tensors="pt")
    ids = encoded["input_ids"][:, :4096]
    mask = encoded["attention_mask"][:, :4096]
    return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]


if __name__ == "__main__":
    tokenizer, model = load()
    print(page_vector(sys.argv[1], tokenizer, model))
