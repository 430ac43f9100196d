from dataclasses import dataclass

import torch
from langchain_text_splitters import RecursiveCharacterTextSplitter
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
        self.splitter = RecursiveCharacterTextSplitter.from_huggingface_tokenizer(self.tokenizer, chunk_size=380)
        self.vectors = []

    @torch.no_grad()
    def add(self, document):
        encoded = self.tokenizer(
            self.splitter.split_text(document),
            truncation=True,
            max_length=self.settings.max_length,
            padding=True,
            return_tensors="pt",
        )
        self.vectors.append(self.encoder(**encoded).last_hidden_state[:, 0])


def build(documents):
    index = Index(Settings())
    for document in documents:
        index.add(document)
    return torch.cat(index.vectors)
