import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def perplexity(model, tokenizer, texts, size=16):
    total, batches = 0.0, 0
    for start in range(0, len(texts), size):
        batch = tokenizer(texts[start : start + size], return_tensors="pt", padding=True).to(model.device)
        labels = batch.input_ids.clone().masked_fill(batch.attention_mask.eq(0), -100)
        output = model(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask,
            labels=labels,
        )
        total += output.loss.item()
        batches += 1
    return torch.tensor(total / batches).exp().item()


def main():
    tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
    tokenizer.add_special_tokens({"pad_token": "<|padding|>"})
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m").to("cuda")
    with open(sys.argv[1]) as file:
        print(perplexity(model, tokenizer, json.load(file)))


if __name__ == "__main__":
    main()
