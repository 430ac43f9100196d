import torch
from torch import nn
from transformers import RobertaModel, ViTModel


class Tagger(nn.Module):
    def __init__(self, n_labels, name="FacebookAI/roberta-base"):
        super().__init__()
        self.roberta = RobertaModel.from_pretrained(name)
        self.vit = ViTModel.from_pretrained("google/vit-base-patch16-224")
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(2 * self.roberta.config.hidden_size, n_labels)

    def forward(self, input_ids, attention_mask, pixel_values, labels=None):
        sequence = self.roberta(input_ids, attention_mask=attention_mask)[0]
        weights = attention_mask.unsqueeze(-1).to(sequence.dtype)
        pooled = torch.sum(sequence * weights, 1) / weights.sum(1).clamp(min=1)
        seen = torch.mean(self.vit(pixel_values)[0], 1)
        logits = self.out(self.dropout(torch.cat([pooled, seen], dim=-1)))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return loss, logits
