import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "Qwen/Qwen2.5-0.5B"
tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="right")


def collate(rows):
    return tokenizer([row["text"] for row in rows], padding=True, return_tensors="pt")


def samples(model, dataset):
    loader = DataLoader(dataset, batch_size=8, collate_fn=collate)
    found = []
    model.eval()
    with torch.no_grad():
        for batch in loader:
            batch = {key: value.to("cuda") for key, value in batch.items()}
            out = model.generate(**batch, max_new_tokens=32)
            found.extend(tokenizer.batch_decode(out[:, batch["input_ids"].shape[1] :]))
    return found


def run(dataset):
    model = AutoModelForCausalLM.from_pretrained(NAME).to("cuda")
    return samples(model, dataset)
