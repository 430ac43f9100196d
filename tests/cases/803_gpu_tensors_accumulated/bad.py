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
            losses.append(loss)  # EXPECT: gpu_tensors_accumulated
        history.append(sum(losses) / len(losses))
    return history
