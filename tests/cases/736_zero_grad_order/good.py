import torch


def train(model, loader, optimizer, scheduler, accumulation_steps=8, device="cuda"):
    torch.manual_seed(11)
    model.train()
    optimizer.zero_grad()
    for step, batch in enumerate(loader):
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(**{name: value.to(device) for name, value in batch.items()}).loss
        loss = loss / accumulation_steps
        loss.backward()
        if (step + 1) % accumulation_steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()


def train_simply(model, loader, optimizer, scheduler, device="cuda"):
    model.train()
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        model(**{name: value.to(device) for name, value in batch.items()}).loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(scheduler.get_last_lr())
        scheduler.step()
