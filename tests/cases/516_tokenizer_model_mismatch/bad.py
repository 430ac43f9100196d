from functools import cached_property

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Scorer:
    model_name = "Qwen/Qwen2.5-1.5B"
    tokenizer_name = "Qwen/CodeQwen1.5-7B"

    @cached_property
    def tokenizer(self):
        return AutoTokenizer.from_pretrained(self.tokenizer_name)  # EXPECT: tokenizer_model_mismatch

    @cached_property
    def model(self):
        return AutoModelForCausalLM.from_pretrained(self.model_name, torch_dtype="auto")

    @torch.inference_mode()
    def score(self, text):
        ids = self.tokenizer(text, return_tensors="pt").input_ids
        return -self.model(ids, labels=ids).loss.item()


print(Scorer().score("def f(x): return x"))
