import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2LMHeadModel, GPT2TokenizerFast


class Stories(Dataset):
    def __init__(self, lines, tokenizer, size=128):
        self.lines = lines
        self.tokenizer = tokenizer
        self.size = size

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        text = self.lines[index] + self.tokenizer.eos_token
        item = self.tokenizer(text, padding="max_length", truncation=True, max_length=self.size, return_tensors="pt")
        ids = item["input_ids"][0]
        labels = torch.where(item["attention_mask"][0] == 0, -100, ids)
        return {"input_ids": ids, "attention_mask": item["attention_mask"][0], "labels": labels}


def main(lines):
    torch.manual_seed(1)
    tokenizer = GPT2TokenizerFast.from_pretrained("openai-community/gpt2")
    tokenizer.pad_token = tokenizer.eos_token
    model = GPT2LMHeadModel.from_pretrained("openai-community/gpt2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    model.train()
    for batch in DataLoader(Stories(lines, tokenizer), batch_size=4, shuffle=True):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
    model.eval()
    prompt = tokenizer("Once", return_tensors="pt")
    return model.generate(**prompt, max_new_tokens=40, pad_token_id=tokenizer.pad_token_id)
