import torch
from torch.utils.data import DataLoader
from transformers import GPT2LMHeadModel, GPT2TokenizerFast

tokenizer = GPT2TokenizerFast.from_pretrained("openai-community/gpt2-medium")
tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
model = GPT2LMHeadModel.from_pretrained("openai-community/gpt2-medium").cuda()


def collate(texts):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=512, return_tensors="pt")
    batch["labels"] = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    return batch


def train(texts):
    torch.manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    model.train()
    for batch in DataLoader(texts, batch_size=4, shuffle=True, collate_fn=collate):
        loss = model(**batch.to("cuda")).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
