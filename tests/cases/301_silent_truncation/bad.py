from dataclasses import dataclass

import torch
from transformers import AutoModel, AutoTokenizer


@dataclass
class Settings:
    name: str = "bert-base-cased"
    max_length: int = 384


class Index:
    def __init__(self, settings: Settings):
        self.settings = settings
        self.tokenizer = AutoTokenizer.from_pretrained(settings.name)
        self.encoder = AutoModel.from_pretrained(settings.name)
        self.vectors = []

    @torch.no_grad()
    def add(self, documents):
        encoded = self.tokenizer(
            documents,
            truncation=True,  # EXPECT: silent_truncation
            max_length=self.settings.max_length,
            padding=True,
            return_tensors="pt",
        )
        self.vectors.append(self.encoder(**encoded).last_hidden_state[:, 0])


def build(documents):
    index = Index(Settings())
    for start in range(0, len(documents), 32):
        index.add(documents[start : start + 32])
    return torch.cat(index.vectors)
