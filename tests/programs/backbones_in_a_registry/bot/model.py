import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from .registry import BACKBONES


class Bot:
    def __init__(self, size="base"):
        name = BACKBONES[size]
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)  # <- LLM210
        self.model.eval()

    @torch.no_grad()
    def reply(self, text):
        inputs = self.tokenizer(text, return_tensors="pt")
        ids = self.model.generate(**inputs, max_new_tokens=50)
        return self.tokenizer.decode(ids[0], skip_special_tokens=True)
