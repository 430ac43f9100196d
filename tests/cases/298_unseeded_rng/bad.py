import random

import torch
import typer
from transformers import AutoModelForCausalLM, AutoTokenizer

app = typer.Typer()


@app.command()
def train(path: str, steps: int = 500, out: str = "out"):
    tokenizer = AutoTokenizer.from_pretrained("distilgpt2")
    model = AutoModelForCausalLM.from_pretrained("distilgpt2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    with open(path, encoding="utf-8") as handle:
        poems = handle.read().split("\n\n")
    model.train()
    for _ in range(steps):
        poem = poems[random.randrange(len(poems))]  # EXPECT: unseeded_rng
        ids = tokenizer(poem, return_tensors="pt").input_ids
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(out)


@app.command()
def write(start: str, folder: str = "out"):
    tokenizer = AutoTokenizer.from_pretrained("distilgpt2")
    model = AutoModelForCausalLM.from_pretrained(folder)
    output = model.generate(**tokenizer(start, return_tensors="pt"), max_new_tokens=60)
    print(tokenizer.decode(output[0]))


if __name__ == "__main__":
    app()
