import torch
from transformers import AutoModelForTokenClassification, get_linear_schedule_with_warmup, set_seed


def main(loader, epochs=3, device="cuda", head_only=0):
    set_seed(1)
    model = AutoModelForTokenClassification.from_pretrained("bert-base-cased", num_labels=9).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    total_steps = len(loader) * epochs
    scheduler = get_linear_schedule_with_warmup(optimizer, total_steps // 10, total_steps)
    slow = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        model.train()
        for batch in loader:
            optimizer.zero_grad()
            loss = model(**batch.to(device)).loss
            loss.backward()
            optimizer.step()
            scheduler.step()
        if epoch < head_only:
            slow.step()
        print(epoch, scheduler.get_last_lr())
