import torch


@torch.no_grad()
def answer(model, tokenizer, questions):
    batch = tokenizer(questions, padding=True, return_tensors="pt").to(model.device)
    out = model.generate(**batch, max_new_tokens=32, do_sample=False)
    return tokenizer.batch_decode(out[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
