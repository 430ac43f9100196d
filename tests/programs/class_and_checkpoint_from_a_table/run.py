from registry import load
import torch

tokenizer, model = load("seq2seq")
with torch.no_grad():
    ids = model.generate(**tokenizer("summarize: a text", return_tensors="pt"), max_new_tokens=60)
print(tokenizer.decode(ids[0], skip_special_tokens=True))
