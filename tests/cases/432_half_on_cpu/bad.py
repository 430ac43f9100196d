import torch
from transformers import AutoModel, AutoTokenizer


class Embedder:
    def __init__(self, name="BAAI/bge-small-en"):
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).half().to(self.device).eval()  # EXPECT: half_on_cpu

    @torch.no_grad()
    def encode(self, texts):
        encoded = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.device)
        return self.model(**encoded).last_hidden_state[:, 0].float().cpu().numpy()
