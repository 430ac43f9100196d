import torch


def fit(model, loader, optimizer, epochs=3):
    torch.manual_seed(3)
    history = []
    for epoch in range(epochs):
        model.train()
        losses = []
        for batch in loader:
            optimizer.zero_grad()
            loss = model(batch["input_ids"], labels=batch["labels"]).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        history.append(torch.stack(losses).mean().item())
    return history


def fit_tasks(model, tasks, optimizer):
    model.train()
    optimizer.zero_grad()
    losses = []
    for task in tasks:
        loss = model(task["input_ids"], labels=task["labels"]).loss
        losses.append(loss)
    torch.stack(losses).sum().backward()
    optimizer.step()
