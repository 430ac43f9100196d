def score(model, loader):
    model.eval()
    total = 0.0
    for batch in loader:
        total += model(**batch).loss.item()
    return total / len(loader)
