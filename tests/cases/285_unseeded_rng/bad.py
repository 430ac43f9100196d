import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def sample(model, ids, steps, temperature):
    for _ in range(steps):
        logits = model(ids).logits[:, -1] / temperature
        following = torch.multinomial(logits.softmax(-1), num_samples=1)  # EXPECT: unseeded_rng
        ids = torch.cat([ids, following], dim=-1)
    return ids


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    ids = tokenizer(sys.argv[1], return_tensors="pt").input_ids
    for _ in range(5):
        print(tokenizer.decode(sample(model, ids, 40, 0.8)[0]))


if __name__ == "__main__":
    main()
