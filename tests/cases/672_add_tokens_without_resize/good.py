import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2LMHeadModel, GPT2Tokenizer


class Poems(Dataset):
    def __init__(self, lines, tokenizer):
        self.ids = []
        for line in lines:
            text = "<|startoftext|>" + line + "<|endoftext|>"
            self.ids.append(torch.tensor(tokenizer(text, padding="max_length", max_length=128)["input_ids"]))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return self.ids[index]


def make_room(model, tokenizer):
    model.resize_token_embeddings(len(tokenizer))
    return model


def train(lines):
    torch.manual_seed(3)
    tokenizer = GPT2Tokenizer.from_pretrained(
        "gpt2", bos_token="<|startoftext|>", eos_token="<|endoftext|>", pad_token="<|pad|>"
    )
    model = make_room(GPT2LMHeadModel.from_pretrained("gpt2"), tokenizer).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    model.train()
    for ids in DataLoader(Poems(lines, tokenizer), batch_size=2, shuffle=True):
        ids = ids.to("cuda")
        labels = ids.masked_fill(ids == tokenizer.pad_token_id, -100)
        loss = model(ids, attention_mask=ids != tokenizer.pad_token_id, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
