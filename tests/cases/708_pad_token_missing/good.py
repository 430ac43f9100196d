from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorWithPadding


def loader(rows, size):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased", use_fast=True)
    encoded = [tokenizer(row["text"]) for row in rows]
    collate = DataCollatorWithPadding(tokenizer=tokenizer, return_tensors="pt")
    return DataLoader(encoded, batch_size=size, collate_fn=collate)


def alone(text):
    return AutoTokenizer.from_pretrained("gpt2")(text, return_tensors="pt", padding=False)
