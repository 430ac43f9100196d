import multiprocessing as mp

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

_tok = None
_net = None


def init_worker():
    global _tok, _net
    torch.set_num_threads(1)
    _tok = AutoTokenizer.from_pretrained("roberta-large-mnli")
    _net = AutoModelForSequenceClassification.from_pretrained("roberta-large-mnli")
    _tok = AutoTokenizer.from_pretrained("microsoft/deberta-large-mnli")  # EXPECT: tokenizer_model_mismatch


def entails(pair):
    enc = _tok(*pair, return_tensors="pt")
    with torch.inference_mode():
        return int(_net(**enc).logits.argmax())


if __name__ == "__main__":
    pairs = [("It rains.", "The street is wet.")] * 8
    with mp.get_context("spawn").Pool(2, initializer=init_worker) as pool:
        print(pool.map(entails, pairs))
