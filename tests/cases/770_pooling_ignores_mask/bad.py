import torch
from torch import nn
from transformers import RobertaModel


class Tagger(nn.Module):
    def __init__(self, n_labels, name="FacebookAI/roberta-base"):
        super().__init__()
        self.roberta = RobertaModel.from_pretrained(name)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(self.roberta.config.hidden_size, n_labels)

    def forward(self, input_ids, attention_mask, labels=None):
        outputs = self.roberta(input_ids, attention_mask=attention_mask)
        sequence = outputs[0]
        pooled = torch.mean(sequence, 1)  # EXPECT: pooling_ignores_mask
        logits = self.out(self.dropout(pooled))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return loss, logits
