import torch
from meters import Meter
from transformers import AutoModelForCausalLM

torch.manual_seed(0)
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())
meter = Meter()
for batch in torch.load("batches.pt", weights_only=True):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    meter.update(loss)
print(meter.mean())
