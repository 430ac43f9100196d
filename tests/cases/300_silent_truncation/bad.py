import torch
from datasets import load_dataset
from transformers import AutoModel, AutoTokenizer

NAME = "sentence-transformers/all-MiniLM-L6-v2"
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModel.from_pretrained(NAME)


def embed(batch):
    encoded = tokenizer(batch["text"], padding=True, truncation=True, max_length=256, return_tensors="pt")  # EXPECT: silent_truncation
    with torch.no_grad():
        hidden = model(**encoded).last_hidden_state
    mask = encoded["attention_mask"].unsqueeze(-1).float()
    return {"vector": ((hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)).numpy()}


rows = load_dataset("wiki_snippets", split="train")
print(len(rows), "snippets")
rows.map(embed, batched=True, batch_size=32).save_to_disk("vectors")
