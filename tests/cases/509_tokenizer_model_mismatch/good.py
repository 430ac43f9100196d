import multiprocessing as mp

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

_tok = None
_net = None


def init_worker(name):
    global _tok, _net
    torch.set_num_threads(1)
    _tok = AutoTokenizer.from_pretrained(name)
    _net = AutoModelForSequenceClassification.from_pretrained(name)


def entails(pair):
    enc = _tok(*pair, return_tensors="pt")
    with torch.inference_mode():
        return int(_net(**enc).logits.argmax())


if __name__ == "__main__":
    pairs = [("It rains.", "The street is wet.")] * 8
    counter = AutoTokenizer.from_pretrained("gpt2")
    print("budget", sum(len(counter(a + b)["input_ids"]) for a, b in pairs))
    for name in ("roberta-large-mnli", "microsoft/deberta-large-mnli"):
        with mp.get_context("spawn").Pool(2, initializer=init_worker, initargs=(name,)) as pool:
            print(pool.map(entails, pairs))
