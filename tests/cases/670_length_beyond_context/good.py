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
    ids = encoded["input_ids"][:, :512]
    mask = encoded["attention_mask"][:, :512]
    return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]


@torch.no_grad()
def page_vectors(path, tokenizer, model):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    ids = tokenizer(text, return_tensors="pt")["input_ids"][:, :4096]
    return [model(ids[:, start : start + 512]).last_hidden_state[:, 0] for start in range(0, ids.shape[1], 512)]


if __name__ == "__main__":
    tokenizer, model = load()
    print(page_vector(sys.argv[1], tokenizer, model))
    print(page_vectors(sys.argv[1], tokenizer, model))
