import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer

MARKERS = ["[E1]", "[/E1]", "[E2]", "[/E2]"]


class RelationModel(nn.Module):
    def __init__(self, labels, name="bert-base-cased"):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.tokenizer.add_special_tokens({"additional_special_tokens": MARKERS})
        self.encoder = AutoModel.from_pretrained(name)
        self.encoder.resize_token_embeddings(len(self.tokenizer))
        self.head = nn.Linear(self.encoder.config.hidden_size * 2, labels)

    def forward(self, sentences):
        batch = self.tokenizer(sentences, padding=True, return_tensors="pt").to(self.head.weight.device)
        hidden = self.encoder(**batch).last_hidden_state
        first, last = hidden[:, 0], hidden[:, -1]
        return self.head(torch.cat([first, last], dim=-1))


class Unused(nn.Module):
    def __init__(self, name="bert-base-cased"):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.tokenizer.add_special_tokens({"additional_special_tokens": ["[unused1]", "[unused2]"]})
        self.encoder = AutoModel.from_pretrained(name)

    def forward(self, sentences):
        batch = self.tokenizer(sentences, padding=True, return_tensors="pt")
        return self.encoder(**batch).last_hidden_state
