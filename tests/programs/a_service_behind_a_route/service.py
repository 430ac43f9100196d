import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Service:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name).eval()

    @torch.inference_mode()
    def complete(self, prompt):
        inputs = self.tokenizer(prompt, return_tensors="pt")
        ids = self.model.generate(**inputs, max_new_tokens=40)
        return self.tokenizer.decode(ids[0][inputs["input_ids"].shape[1]:])
