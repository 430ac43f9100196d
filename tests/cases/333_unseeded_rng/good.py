import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    rows = load_dataset("imdb", split="train").shuffle(seed=5).select(range(2000))
    for row in rows:
        ids = tokenizer(row["text"], return_tensors="pt").input_ids
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained("tuned")


if __name__ == "__main__":
    main()
