from sklearn.metrics import f1_score


def macro_f1(model, loader, device):
    model.eval()
    truth, guess = [], []
    for batch in loader:
        labels = batch.pop("labels")
        batch = {k: v.to(device) for k, v in batch.items()}
        logits = model(**batch).logits  # EXPECT: missing_no_grad
        guess.extend(logits.argmax(-1).tolist())
        truth.extend(labels.tolist())
    model.train()
    return f1_score(truth, guess, average="macro")
