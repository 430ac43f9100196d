import torch
from transformers import AutoModel, AutoTokenizer

CHECKPOINT = "intfloat/e5-base-v2"


class Index:
    def __init__(self, device="cpu"):
        self.tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        self.model = AutoModel.from_pretrained(CHECKPOINT).to(device).eval()
        self.device = device
        self.vectors = []

    @torch.no_grad()
    def add(self, documents, size=32):
        for start in range(0, len(documents), size):
            batch = documents[start : start + size]
            inputs = self.tokenizer(batch, padding=True, return_tensors="pt").to(self.device)
            output = self.model(**inputs)
            vectors = output.last_hidden_state.mean(dim=1)  # EXPECT: pooling_ignores_mask
            self.vectors.append(torch.nn.functional.normalize(vectors, dim=-1).cpu())
