import numpy as np
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer


class PassageIndex:
    def __init__(self, checkpoint="BAAI/bge-small-en-v1.5", device="cuda"):
        self.device = device
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self.encoder = AutoModel.from_pretrained(checkpoint).to(device)
        self.optimizer = torch.optim.AdamW(self.encoder.parameters(), lr=1e-5)
        self.vectors = []

    def _encode(self, texts):
        batch = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.device)
        return F.normalize(self.encoder(**batch).last_hidden_state[:, 0], dim=-1)

    @torch.inference_mode()
    def embed(self, texts):
        self.encoder.eval()
        return self._encode(texts)

    def tune(self, questions, passages, temperature=0.05):
        self.encoder.train()
        scores = self._encode(questions) @ self._encode(passages).T / temperature
        loss = F.cross_entropy(scores, torch.arange(len(questions), device=self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def add(self, passages, batch_size=64):
        for start in range(0, len(passages), batch_size):
            self.vectors.append(self.embed(passages[start : start + batch_size]))

    def search(self, question, k=5):
        matrix = torch.cat(self.vectors)
        scores = matrix @ self.embed([question])[0]
        return np.argsort(-scores.cpu().numpy())[:k]


if __name__ == "__main__":
    index = PassageIndex()
    index.tune(["Who invented the transistor?"], ["Bardeen, Brattain and Shockley invented it."])
    index.add(open("passages.txt", encoding="utf-8").read().split("\n\n"))
    print(index.search("Who invented the transistor?"))
