import torch
from transformers import AutoModelForSequenceClassification


def main(loader, epochs=3):
    torch.manual_seed(7)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    model.train()
    for epoch in range(epochs):
        optimizer.zero_grad()
        total = 0.0
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()  # EXPECT: zero_grad_order
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(loader))
