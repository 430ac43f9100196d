import numpy as np
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer


class PassageIndex:
    def __init__(self, checkpoint="BAAI/bge-small-en-v1.5", device="cuda"):
        self.device = device
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self.encoder = AutoModel.from_pretrained(checkpoint).to(device)
        self.encoder.eval()
        self.vectors = []

    def embed(self, texts):
        batch = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.device)
        hidden = self.encoder(**batch).last_hidden_state  # EXPECT: missing_no_grad
        return F.normalize(hidden[:, 0], dim=-1)

    def add(self, passages, batch_size=64):
        for start in range(0, len(passages), batch_size):
            self.vectors.append(self.embed(passages[start : start + batch_size]))

    def search(self, question, k=5):
        matrix = torch.cat(self.vectors)
        scores = matrix @ self.embed([question])[0]
        return np.argsort(-scores.detach().cpu().numpy())[:k]


if __name__ == "__main__":
    index = PassageIndex()
    index.add(open("passages.txt", encoding="utf-8").read().split("\n\n"))
    print(index.search("Who invented the transistor?"))
