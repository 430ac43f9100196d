import random

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from rewards import reward


class Explorer:
    def __init__(self, name="gpt2", seed=0):
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.policy = AutoModelForCausalLM.from_pretrained(name)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-6)

    def update(self, prompt):
        inputs = self.tokenizer(prompt, return_tensors="pt")
        temperature = 1.0 + 0.1 * self.rng.standard_normal()
        ids = self.policy.generate(**inputs, do_sample=True, temperature=temperature, max_new_tokens=16)
        logps = self.policy(ids).logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])
        loss = -reward(self.tokenizer.decode(ids[0])) * logps.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(path="prompts.txt", steps=200):
    with open(path, encoding="utf-8") as handle:
        prompts = handle.read().splitlines()
    explorer = Explorer()
    draw = random.Random(0)
    for _ in range(steps):
        explorer.update(draw.choice(prompts))


if __name__ == "__main__":
    main()
