import torch
from transformers import GPTNeoXForCausalLM


class Tuning:
    def __init__(self, checkpoint, rate=1e-5):
        torch.manual_seed(0)
        self.model = GPTNeoXForCausalLM.from_pretrained(checkpoint).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=rate)

    def step(self, ids):
        labels = ids.clone()
        labels[:, :-1] = ids[:, 1:]
        labels[:, -1] = -100
        loss = self.model(input_ids=ids, labels=labels).loss  # EXPECT
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
