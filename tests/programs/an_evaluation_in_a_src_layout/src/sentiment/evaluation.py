from tqdm import tqdm


def accuracy(model, loader, device):
    model.eval()
    right, total = 0, 0
    for batch in tqdm(loader):
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits  # <- LLM301
        right += (logits.argmax(dim=-1) == batch["labels"]).sum().item()
        total += batch["labels"].size(0)
    return right / total
