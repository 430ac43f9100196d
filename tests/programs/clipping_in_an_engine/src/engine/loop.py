import torch


def train_one_epoch(model, loader, optimizer, scaler, max_norm=1.0):
    model.train()
    for batch in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # <- LLM305
        scaler.step(optimizer)
        scaler.update()
