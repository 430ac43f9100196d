from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorWithPadding


def loader(rows, size):
    tokenizer = AutoTokenizer.from_pretrained("gpt2", use_fast=True)
    encoded = [tokenizer(row["text"]) for row in rows]
    collate = DataCollatorWithPadding(tokenizer=tokenizer, return_tensors="pt")  # EXPECT
    return DataLoader(encoded, batch_size=size, collate_fn=collate)
