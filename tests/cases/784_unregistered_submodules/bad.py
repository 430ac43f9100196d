from torch import nn
from transformers import AutoModel


class MultiTaskBert(nn.Module):
    def __init__(self, tasks, name="google-bert/bert-base-uncased"):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(0.1)
        self.heads = {}  # EXPECT: unregistered_submodules
        for task, labels in tasks.items():
            self.heads[task] = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, labels))
        self.losses = {task: nn.CrossEntropyLoss() for task in tasks}

    def forward(self, task, labels=None, **batch):
        pooled = self.dropout(self.encoder(**batch).last_hidden_state[:, 0])
        logits = self.heads[task](pooled)
        return logits if labels is None else self.losses[task](logits, labels)
