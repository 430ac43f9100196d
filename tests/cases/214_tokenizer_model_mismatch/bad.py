from functools import partial

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq


def encode(row, tokenizer):
    out = tokenizer(row["code"])
    out["labels"] = tokenizer(text_target=row["docstring"])["input_ids"]
    return out


def train(epochs=2, lr=3e-5):
    accelerator = Accelerator(mixed_precision="bf16")
    set_seed(13)
    tokenizer = AutoTokenizer.from_pretrained("t5-base")  # EXPECT: tokenizer_model_mismatch
    model = AutoModelForSeq2SeqLM.from_pretrained("Salesforce/codet5-base")
    rows = load_dataset("code_search_net", "python", split="train")
    rows = rows.map(partial(encode, tokenizer=tokenizer), remove_columns=rows.column_names)
    rows = rows.filter(lambda row: len(row["input_ids"]) < 512 and len(row["labels"]) < 128)
    collator = DataCollatorForSeq2Seq(tokenizer, model=model)
    loader = DataLoader(rows, batch_size=8, shuffle=True, collate_fn=collator)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for _ in range(epochs):
        for batch in loader:
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    train()
