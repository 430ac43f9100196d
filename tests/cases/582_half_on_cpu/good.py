import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "facebook/opt-1.3b"
model = AutoModelForCausalLM.from_pretrained(NAME, torch_dtype=torch.float16, device_map="auto")
tokenizer = AutoTokenizer.from_pretrained(NAME)


def say(prompt):
    enc = tokenizer(prompt, return_tensors="pt").to(model.device)
    with torch.no_grad():
        out = model.generate(**enc, max_new_tokens=16)
    return tokenizer.decode(out[0], skip_special_tokens=True)
