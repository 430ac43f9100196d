import torch
from transformers import AutoModel, AutoTokenizer


def choose():
    if torch.cuda.is_available():
        return "cuda", torch.float16
    if torch.backends.mps.is_available():
        return "mps", torch.float16
    return "cpu", torch.float32


class Embedder:
    def __init__(self, name="BAAI/bge-small-en"):
        self.device, dtype = choose()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name, torch_dtype=dtype).to(self.device).eval()

    @torch.no_grad()
    def encode(self, texts):
        encoded = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.device)
        return self.model(**encoded).last_hidden_state[:, 0].float().cpu().numpy()
