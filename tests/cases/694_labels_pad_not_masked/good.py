import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, set_seed

CHECKPOINT = "t5-small"


class Headlines(Dataset):
    def __init__(self, rows, tokenizer):
        self.rows = rows
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        body, headline = self.rows[index]
        source = self.tokenizer(body, padding="max_length", max_length=256, return_tensors="pt")
        target = self.tokenizer(headline, padding="max_length", max_length=24, return_tensors="pt")
        labels = target["input_ids"].squeeze(0)
        labels[target["attention_mask"].squeeze(0) == 0] = -100
        return {
            "input_ids": source["input_ids"].squeeze(0),
            "attention_mask": source["attention_mask"].squeeze(0),
            "labels": labels,
        }


def train(rows, epochs=3):
    set_seed(7)
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    model = AutoModelForSeq2SeqLM.from_pretrained(CHECKPOINT).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = DataLoader(Headlines(rows, tokenizer), batch_size=8, shuffle=True)
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
    model.save_pretrained("headlines")
