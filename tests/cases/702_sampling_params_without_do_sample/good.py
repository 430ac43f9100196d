import torch


@torch.inference_mode()
def answers(model, tokenizer, questions, temperature=0.0, max_new_tokens=16):
    found = []
    for question in questions:
        ids = tokenizer(question, return_tensors="pt").input_ids.to(model.device)
        if temperature > 0:
            output = model.generate(ids, do_sample=True, temperature=temperature, max_new_tokens=max_new_tokens)
        else:
            output = model.generate(ids, do_sample=False, max_new_tokens=max_new_tokens)
        found.append(tokenizer.decode(output[0, ids.shape[1] :], skip_special_tokens=True))
    return found
