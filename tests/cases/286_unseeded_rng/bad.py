import argparse
import random

import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer

from prompts import PROMPTS


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seed", type=int, default=42)
    return parser.parse_args()


def main():
    args = parse_args()
    accelerator = Accelerator()
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    model, optimizer = accelerator.prepare(model, optimizer)
    model.train()
    for _ in range(args.steps):
        text = random.choice(PROMPTS)  # EXPECT: unseeded_rng
        ids = tokenizer(text, return_tensors="pt").input_ids.to(accelerator.device)
        loss = model(ids, labels=ids).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
