import torch
from setup_model import load


@torch.inference_mode()
def answers(questions):
    model, tokenizer = load("meta-llama/Llama-3.1-8B-Instruct")
    prompts = [f"Question: {question}\nAnswer:" for question in questions]
    enc = tokenizer(prompts, return_tensors="pt", padding=True).to(model.device)
    out = model.generate(**enc, max_new_tokens=128, do_sample=False)
    return tokenizer.batch_decode(out[:, enc.input_ids.shape[-1] :], skip_special_tokens=True)


if __name__ == "__main__":
    print(answers(["What is a tensor?", "Who wrote the first compiler, and when was that?"]))
