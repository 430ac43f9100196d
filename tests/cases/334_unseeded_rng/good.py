import torch
from torch.utils.data import DataLoader, RandomSampler
from transformers import AutoModelForCausalLM

rows = torch.load("tokens.pt")
order = RandomSampler(rows, generator=torch.Generator().manual_seed(0))
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(rows, batch_size=8, sampler=order):
    loss = model(batch, labels=batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
