import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Drafts:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name).eval()
        self.known = {}

    @torch.no_grad()
    def next(self, prompt):
        ids = self.tokenizer(prompt, return_tensors="pt").input_ids
        if ids not in self.known:
            self.known[ids] = self.model(ids).logits[0, -1].argmax()  # EXPECT: tensor_as_dict_key
        return self.known[ids]
