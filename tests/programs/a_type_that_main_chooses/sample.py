import torch
from models import load
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = load("gpt2").to("cuda").eval()
with torch.no_grad():
    inputs = tokenizer("Once upon a time", return_tensors="pt").to("cuda")
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=20, do_sample=False)[0]))
