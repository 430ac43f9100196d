import torch

from .clipping import clip


def run(model, loader, optimizer, scaler, max_norm):
    model.train()
    for step, batch in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        norm = clip(model, optimizer, scaler, max_norm)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if step % 100 == 0:
            print(step, loss.item(), norm.item())
