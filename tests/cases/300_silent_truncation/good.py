import torch
from datasets import load_dataset
from transformers import AutoModel, AutoTokenizer

NAME = "sentence-transformers/all-MiniLM-L6-v2"
LIMIT = 256
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModel.from_pretrained(NAME)


def embed(batch):
    encoded = tokenizer(batch["text"], padding=True, truncation=True, max_length=LIMIT, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**encoded).last_hidden_state
    mask = encoded["attention_mask"].unsqueeze(-1).float()
    vectors = ((hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)).numpy()
    return {"vector": vectors, "tokens": encoded["attention_mask"].sum(1).tolist()}


rows = load_dataset("wiki_snippets", split="train").map(embed, batched=True, batch_size=32)
print(len(rows), "snippets")
rows.filter(lambda row: row["tokens"] < LIMIT).save_to_disk("vectors")
