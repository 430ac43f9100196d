import torch
from transformers import AutoModelForCausalLM

def build(name, half=False):
    model = AutoModelForCausalLM.from_pretrained(name)
    if half:
        model = model.half()
    return model
