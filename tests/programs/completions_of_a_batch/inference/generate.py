import torch


@torch.inference_mode()
def complete(model, tokenizer, prompts, limit=64):
    inputs = tokenizer(prompts, padding=True, return_tensors="pt").to(model.device)
    outputs = model.generate(**inputs, max_new_tokens=limit, do_sample=False)  # <- LLM108
    return tokenizer.batch_decode(outputs, skip_special_tokens=True)
