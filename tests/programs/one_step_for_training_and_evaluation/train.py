import torch
from common.steps import loss_of
from transformers import AutoModelForSequenceClassification

torch.manual_seed(0)
model = AutoModelForSequenceClassification.from_pretrained("roberta-base")
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
model.train()
for batch in torch.load("train.pt", weights_only=True):
    loss_of(model, batch).backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("out")
