def train_epoch(model, loader, optimizer):
    model.train()
    for batch in loader:
        optimizer.zero_grad()
        output = model(**batch)
        output.loss.backward()
        optimizer.step()
