import functools
from contextlib import contextmanager

import torch
from transformers import AutoModel, AutoTokenizer


def without_gradients(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return fn(*args, **kwargs)

    return wrapper


@contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield model
    finally:
        model.train(was_training)


class Embedder:
    def __init__(self, name="thenlper/gte-small"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name)

    @without_gradients
    def embed(self, texts):
        enc = self.tokenizer(texts, padding=True, return_tensors="pt")
        out = self.model(**enc).last_hidden_state[:, 0]
        return torch.nn.functional.normalize(out, dim=-1).tolist()

    def similarity(self, left, right):
        with evaluating(self.model) as model:
            a = model(**self.tokenizer(left, return_tensors="pt")).last_hidden_state[:, 0]
            b = model(**self.tokenizer(right, return_tensors="pt")).last_hidden_state[:, 0]
        return torch.cosine_similarity(a, b).item()


if __name__ == "__main__":
    Embedder().embed(["a", "b"])
