import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

CHECKPOINT = "mistralai/Mixtral-8x7B-Instruct-v0.1"


def load():
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT, padding_side="left")
    tokenizer.pad_token = tokenizer.unk_token
    return tokenizer, AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.bfloat16, device_map="auto")


def answers(questions, documents):
    tokenizer, model = load()
    prompts = []
    for question in questions:
        chat = [{"role": "user", "content": question}]
        prompts.append(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))
    inputs = tokenizer(prompts, padding=True, add_special_tokens=False, return_tensors="pt").to(model.device)
    output = model.generate(**inputs, max_new_tokens=200)
    sizes = [len(tokenizer(f"[INST] {document} [/INST]")["input_ids"]) for document in documents]
    return tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True), sizes
