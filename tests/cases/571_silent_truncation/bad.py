import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "nlpaueb/legal-bert-base-uncased"


def make_collate(tokenizer, limit=512):
    def collate(rows):
        texts = [row["contract"] for row in rows]
        batch = tokenizer(texts, padding="longest", truncation=True, max_length=limit, return_tensors="pt")  # EXPECT: silent_truncation
        batch["labels"] = torch.tensor([row["label"] for row in rows])
        return batch

    return collate


def train(rows, epochs=3):
    torch.manual_seed(11)
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME, num_labels=4)
    loader = DataLoader(rows, batch_size=8, shuffle=True, collate_fn=make_collate(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    model.train()
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
    return model
