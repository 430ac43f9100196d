import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer


class DocumentEmbedder:
    def __init__(self, name="intfloat/e5-base-v2", max_len=512):
        self.tok = AutoTokenizer.from_pretrained(name)
        self.net = AutoModel.from_pretrained(name).eval()
        self.max_len = max_len

    def _pool(self, hidden, mask):
        mask = mask[..., None].float()
        return (hidden * mask).sum(1) / mask.sum(1)

    def windows(self, document, overlap=50):
        ids = self.tok(document, add_special_tokens=False)["input_ids"]
        step = self.max_len - 2 - overlap
        for start in range(0, max(len(ids), 1), step):
            yield self.tok.decode(ids[start : start + step])

    @torch.no_grad()
    def __call__(self, documents):
        vectors = []
        for document in documents:
            chunk = ["passage: " + w for w in self.windows(document)]
            enc = self.tok(chunk, padding=True, truncation=True, max_length=self.max_len, return_tensors="pt")
            hidden = self.net(**enc).last_hidden_state
            vectors.append(self._pool(hidden, enc["attention_mask"]).mean(0).numpy())
        return np.stack(vectors)
