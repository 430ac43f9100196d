import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

NAME = "Helsinki-NLP/opus-mt-de-en"
app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSeq2SeqLM.from_pretrained(NAME)


class Job(BaseModel):
    text: str


@app.post("/translate")
def translate(job: Job):
    batch = tokenizer([job.text], return_tensors="pt", truncation=True, max_length=512)  # EXPECT: silent_truncation
    with torch.no_grad():
        ids = model.generate(**batch, max_new_tokens=400)
    return {"translation": tokenizer.decode(ids[0], skip_special_tokens=True)}
