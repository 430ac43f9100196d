import torch
from transformers import AutoModelForCausalLM


def load(name, dtype=torch.float16):
    return AutoModelForCausalLM.from_pretrained(name, torch_dtype=dtype)
