import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/blenderbot-400M-distill")  # EXPECT: tokenizer_model_mismatch
model = AutoModelForCausalLM.from_pretrained("microsoft/DialoGPT-medium")

history = None
while True:
    question = input(">> ")
    if not question:
        break
    new_ids = tokenizer.encode(question + tokenizer.eos_token, return_tensors="pt")
    ids = new_ids if history is None else torch.cat([history, new_ids], dim=-1)
    history = model.generate(ids, max_new_tokens=100, pad_token_id=tokenizer.eos_token_id)
    print(tokenizer.decode(history[0, ids.shape[-1] :], skip_special_tokens=True))
