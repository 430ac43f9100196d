import torch
from transformers import AutoModelForSequenceClassification


def main(loader, epochs=3, group=4):
    torch.manual_seed(7)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
    optimizer = torch.optim.AdamW(model.bert.parameters(), lr=3e-5)
    head = torch.optim.AdamW(model.classifier.parameters(), lr=1e-3)
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for index, batch in enumerate(loader):
            loss = model(**batch).loss
            (loss / group).backward()
            if (index + 1) % group == 0 or index + 1 == len(loader):
                optimizer.step()
                head.step()
                model.zero_grad()
            total += loss.item()
        print(epoch, total / len(loader))
