import torch
from torch.utils.data import DataLoader, RandomSampler
from transformers import AutoModelForCausalLM

rows = torch.load("tokens.pt")
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(rows, batch_size=8, sampler=RandomSampler(rows)):  # EXPECT: unseeded_rng
    loss = model(batch, labels=batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
