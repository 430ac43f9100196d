import torch
from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

app = FastAPI()
NAME = "Qwen/Qwen2-1.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(NAME, torch_dtype=torch.bfloat16, device_map="cuda")
translator = AutoModelForSeq2SeqLM.from_pretrained("google-t5/t5-base")
translator_tokenizer = AutoTokenizer.from_pretrained("google-t5/t5-base", padding_side="right")


@app.post("/chat")
def chat(question: str):
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    enc = tokenizer(text, padding="max_length", max_length=512, return_tensors="pt").to("cuda")
    out = model.generate(
        **enc,
        max_new_tokens=256,
    )
    return {"answer": tokenizer.decode(out[0, 512:], skip_special_tokens=True)}


@app.post("/german")
def german(sentences: list[str]):
    enc = translator_tokenizer(sentences, padding=True, return_tensors="pt")
    return translator_tokenizer.batch_decode(translator.generate(**enc, max_new_tokens=128))
