import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2LMHeadModel, GPT2TokenizerFast

tokenizer = GPT2TokenizerFast.from_pretrained("openai-community/gpt2-medium")
tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
model = GPT2LMHeadModel.from_pretrained("openai-community/gpt2-medium").cuda()
model.resize_token_embeddings(len(tokenizer))
judge_tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
judge_tokenizer.add_special_tokens({"pad_token": "<|pad|>"})  # 50,278 of 50,304 rows
judge = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m").cuda()


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


@torch.no_grad()
def score(texts):
    batch = judge_tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
    return judge(**batch).logits
