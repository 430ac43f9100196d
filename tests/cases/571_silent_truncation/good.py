import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "nlpaueb/legal-bert-base-uncased"


def split_contracts(rows, tokenizer, words=300):
    for row in rows:
        text = row["contract"].split()
        for start in range(0, len(text), words):
            yield {"contract": " ".join(text[start : start + words]), "label": row["label"]}


def make_collate(tokenizer, limit=512):
    def collate(rows):
        texts = [row["contract"] for row in rows]
        lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
        if max(lengths) > limit:
            raise ValueError(f"contract of {max(lengths)} tokens, split it first")
        batch = tokenizer(texts, padding="longest", truncation=True, max_length=limit, return_tensors="pt")
        batch["labels"] = torch.tensor([row["label"] for row in rows])
        return batch

    return collate


def train(rows, epochs=3):
    torch.manual_seed(11)
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME, num_labels=4)
    pieces = list(split_contracts(rows, tokenizer))
    loader = DataLoader(pieces, batch_size=8, shuffle=True, collate_fn=make_collate(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    model.train()
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
    return model
