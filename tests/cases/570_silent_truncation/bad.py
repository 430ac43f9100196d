import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer


class DocumentEmbedder:
    def __init__(self, name="intfloat/e5-base-v2", max_len=512, batch_size=16):
        self.tok = AutoTokenizer.from_pretrained(name)
        self.net = AutoModel.from_pretrained(name).eval()
        self.max_len = max_len
        self.batch_size = batch_size

    def _pool(self, hidden, mask):
        mask = mask[..., None].float()
        return (hidden * mask).sum(1) / mask.sum(1)

    @torch.no_grad()
    def __call__(self, documents):
        vectors = []
        for start in range(0, len(documents), self.batch_size):
            chunk = ["passage: " + d for d in documents[start : start + self.batch_size]]
            enc = self.tok(chunk, padding=True, truncation=True, max_length=self.max_len, return_tensors="pt")  # EXPECT: silent_truncation
            hidden = self.net(**enc).last_hidden_state
            vectors.append(self._pool(hidden, enc["attention_mask"]).numpy())
        return np.concatenate(vectors)
