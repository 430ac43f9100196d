from functools import cached_property

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Scorer:
    model_name = "Qwen/Qwen2.5-1.5B"

    @property
    def tokenizer_name(self):
        return self.model_name

    @cached_property
    def tokenizer(self):
        return AutoTokenizer.from_pretrained(self.tokenizer_name)

    @cached_property
    def model(self):
        return AutoModelForCausalLM.from_pretrained(self.model_name, torch_dtype="auto")

    @torch.inference_mode()
    def score(self, text):
        ids = self.tokenizer(text, return_tensors="pt").input_ids
        return -self.model(ids, labels=ids).loss.item()


class CodeScorer(Scorer):
    model_name = "Qwen/CodeQwen1.5-7B"


class BigScorer(Scorer):
    model_name = "Qwen/Qwen2.5-7B"
    tokenizer_name = "Qwen/Qwen2.5-0.5B"


print(Scorer().score("def f(x): return x"), CodeScorer().score("x = 1"))
