from masks import labels_of
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer
import torch

torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)

def collate(rows):
    batch = tokenizer(rows, return_tensors="pt", padding=True, truncation=True, max_length=128)
    batch["labels"] = labels_of(batch)
    return batch

for batch in DataLoader(open("lines.txt").readlines(), batch_size=8, collate_fn=collate):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
