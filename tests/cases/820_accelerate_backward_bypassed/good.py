import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, get_cosine_schedule_with_warmup


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulate", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-5)
    return parser.parse_args()


def main():
    args = parse()
    set_seed(11)
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulate)
    tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
    rows = [tokenizer(line, truncation=True, max_length=512) for line in open("rows.txt", encoding="utf-8")]
    loader = DataLoader(rows, batch_size=1, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    schedule = get_cosine_schedule_with_warmup(optimizer, 10, len(loader))
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    model.train()
    for step, batch in enumerate(loader):
        with accelerator.accumulate(model):
            outputs = model(**batch, labels=batch["input_ids"])
            accelerator.backward(outputs.loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        if step % 100 == 0:
            accelerator.print(step, outputs.loss.item())


def on_one_device(model, optimizer, loader):
    """The same without accelerate, to compare with."""
    model.train()
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
