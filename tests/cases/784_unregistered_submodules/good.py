from torch import nn
from transformers import AutoModel


class MultiTaskBert(nn.Module):
    def __init__(self, tasks, name="google-bert/bert-base-uncased"):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(0.1)
        heads = {}
        for task, labels in tasks.items():
            heads[task] = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, labels))
        self.heads = nn.ModuleDict(heads)
        self.losses = {task: nn.CrossEntropyLoss() for task in tasks}

    def forward(self, task, labels=None, **batch):
        pooled = self.dropout(self.encoder(**batch).last_hidden_state[:, 0])
        logits = self.heads[task](pooled)
        return logits if labels is None else self.losses[task](logits, labels)


class NamedHeads(nn.Module):
    def __init__(self, width, tasks):
        super().__init__()
        self.by_task = {task: nn.Linear(width, labels) for task, labels in tasks.items()}
        for task, head in self.by_task.items():
            self.add_module(f"head_{task}", head)

    def forward(self, x, task):
        return self.by_task[task](x)
