import torch
from models import load

torch.manual_seed(5)
model = load("gpt2", dtype=torch.bfloat16).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
model.train()
for batch in torch.load("train.pt", weights_only=True):
    model(**batch).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("tuned")
