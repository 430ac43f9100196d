import torch
from transformers import AutoModelForCausalLM


def load_model(name, device):
    model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.float16)
    return model.to(device)
