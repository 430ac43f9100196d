import torch
from models import build
from steps import Stepper

torch.manual_seed(1)
model = build("gpt2", half=True).to("cuda")  # <- LLM304
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
stepper = Stepper(model, optimizer)
for batch in torch.load("batches.pt", weights_only=True):
    stepper.step(batch)
