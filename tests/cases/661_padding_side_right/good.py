import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "Qwen/Qwen2.5-0.5B"
tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="right")


def collate(rows):
    return tokenizer([row["text"] for row in rows], padding=True, return_tensors="pt")


def collate_prompts(rows):
    return tokenizer([row["text"] for row in rows], padding=True, padding_side="left", return_tensors="pt")


def samples(model, dataset):
    loader = DataLoader(dataset, batch_size=8, collate_fn=collate_prompts)
    found = []
    model.eval()
    with torch.no_grad():
        for batch in loader:
            batch = {key: value.to("cuda") for key, value in batch.items()}
            out = model.generate(**batch, max_new_tokens=32)
            found.extend(tokenizer.batch_decode(out[:, batch["input_ids"].shape[1] :]))
    return found


@torch.no_grad()
def loss(model, dataset):
    total = 0.0
    for batch in DataLoader(dataset, batch_size=8, collate_fn=collate):
        batch = {key: value.to("cuda") for key, value in batch.items()}
        total += model(**batch, labels=batch["input_ids"]).loss.item()
    return total


def run(dataset):
    model = AutoModelForCausalLM.from_pretrained(NAME).to("cuda")
    return samples(model, dataset), loss(model, dataset)
