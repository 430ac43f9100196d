import torch


def train(model, loader, optimizer, scheduler, accumulation_steps=8, device="cuda"):
    torch.manual_seed(11)
    model.train()
    for step, batch in enumerate(loader):
        optimizer.zero_grad()  # EXPECT: zero_grad_order
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(**{name: value.to(device) for name, value in batch.items()}).loss
        loss = loss / accumulation_steps
        loss.backward()
        if (step + 1) % accumulation_steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
