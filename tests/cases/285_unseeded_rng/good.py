import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def sample(model, ids, steps, temperature, generator):
    for _ in range(steps):
        logits = model(ids).logits[:, -1] / temperature
        following = torch.multinomial(logits.softmax(-1), num_samples=1, generator=generator)
        ids = torch.cat([ids, following], dim=-1)
    return ids


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    ids = tokenizer(sys.argv[1], return_tensors="pt").input_ids
    generator = torch.Generator().manual_seed(7)
    for _ in range(5):
        print(tokenizer.decode(sample(model, ids, 40, 0.8, generator)[0]))


if __name__ == "__main__":
    main()
