import torch


@torch.inference_mode()
def answers(model, tokenizer, questions, max_new_tokens=16):
    found = []
    for question in questions:
        ids = tokenizer(question, return_tensors="pt").input_ids.to(model.device)
        output = model.generate(
            ids,
            do_sample=True,
            temperature=0.0,  # EXPECT
            max_new_tokens=max_new_tokens,
        )
        found.append(tokenizer.decode(output[0, ids.shape[1] :], skip_special_tokens=True))
    return found
