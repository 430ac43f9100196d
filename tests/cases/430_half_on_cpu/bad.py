import torch
from transformers import T5ForConditionalGeneration

model = T5ForConditionalGeneration.from_pretrained("t5-base", torch_dtype=torch.float16)  # EXPECT: half_on_cpu
model.cuda().train()
no_decay = ("bias", "layer_norm.weight")
groups = [
    {"params": [p for n, p in model.named_parameters() if not n.endswith(no_decay)], "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if n.endswith(no_decay)], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=1e-4)


def step(batch):
    loss = model(input_ids=batch["ids"].cuda(), labels=batch["labels"].cuda()).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
