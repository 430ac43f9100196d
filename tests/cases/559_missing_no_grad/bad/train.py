import torch
from metrics import macro_f1
from transformers import AutoModelForSequenceClassification, set_seed


def train(train_loader, dev_loader, device="cuda"):
    set_seed(5)
    model = AutoModelForSequenceClassification.from_pretrained("roberta-base", num_labels=6).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    model.train()
    for step, batch in enumerate(train_loader):
        loss = model(**{k: v.to(device) for k, v in batch.items()}).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            print(step, macro_f1(model, dev_loader, device))
