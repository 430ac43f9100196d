"""The bot over HTTP: `uvicorn support_bot.serve:app`."""

import torch
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

CHECKPOINT = "Qwen/Qwen2.5-0.5B-Instruct"
MAX_PROMPT_TOKENS = 1024
INSTRUCTION = "You are the support desk of an online shop. Answer in two sentences."

app = FastAPI(title="support-bot")

tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
model = AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.bfloat16).to("cpu")
model.eval()

intent_tokenizer = AutoTokenizer.from_pretrained("runs/intent")
intent_model = AutoModelForSequenceClassification.from_pretrained("runs/intent")
intent_model.eval()


class Question(BaseModel):
    text: str


@app.post("/intent")
def intent(question: Question) -> dict[str, str]:
    encoded = intent_tokenizer(question.text, return_tensors="pt")
    with torch.inference_mode():
        logits = intent_model(**encoded).logits
    return {"intent": intent_model.config.id2label[logits.argmax(dim=-1).item()]}


@app.post("/answer")
def answer(question: Question) -> dict[str, str]:
    messages = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": question.text}]
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    inputs = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
    if inputs["input_ids"].shape[1] > MAX_PROMPT_TOKENS:
        raise HTTPException(status_code=413, detail="the question is too long")
    generated = model.generate(**inputs, max_new_tokens=128, do_sample=False)
    reply = generated[0, inputs["input_ids"].shape[1] :]
    return {"answer": tokenizer.decode(reply, skip_special_tokens=True)}
