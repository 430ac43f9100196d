import torch
from torch import nn
from torch.utils import checkpoint as recompute
from transformers import AutoModel


class Reader(nn.Module):
    """A frozen BERT with a body of its own on top, for documents that are too long to keep all activations."""

    def __init__(self, name="bert-base-uncased", layers=6, classes=4):
        super().__init__()
        self.bert = AutoModel.from_pretrained(name)
        self.body = nn.ModuleList(nn.TransformerEncoderLayer(768, 12, batch_first=True) for _ in range(layers))
        self.top = nn.Linear(768, classes)

    def forward(self, input_ids, attention_mask):
        with torch.no_grad():
            states = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        for layer in self.body:
            states = recompute.checkpoint(layer, states, use_reentrant=True)  # EXPECT: checkpointing_frozen_inputs
        return self.top(states.mean(1))


def train(loader, optimizer_of):
    torch.manual_seed(3)
    model = Reader().to("cuda")
    optimizer = optimizer_of(model.parameters())
    model.train()
    for batch in loader:
        optimizer.zero_grad()
        scores = model(batch["input_ids"].to("cuda"), batch["attention_mask"].to("cuda"))
        nn.functional.cross_entropy(scores, batch["labels"].to("cuda")).backward()
        optimizer.step()
