import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup

from data import build_datasets, collate


def train_one_epoch(model, loader, optimizer, scheduler, device):
    model.train()
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()


def validate(model, loader, device):
    model.eval()
    total, correct, val_loss = 0, 0, 0.0
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        outputs = model(**batch)  # EXPECT: missing_no_grad
        val_loss += outputs.loss.item()
        correct += (outputs.logits.argmax(dim=-1) == batch["labels"]).sum().item()
        total += len(batch["labels"])
    return val_loss / len(loader), correct / total


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_set, valid_set = build_datasets()
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
    valid_loader = DataLoader(valid_set, batch_size=32, collate_fn=collate)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, 3 * len(train_loader))
    for epoch in range(3):
        train_one_epoch(model, train_loader, optimizer, scheduler, device)
        print(epoch, *validate(model, valid_loader, device))


if __name__ == "__main__":
    main()
