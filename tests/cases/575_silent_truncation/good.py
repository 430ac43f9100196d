import torch
from fastapi import FastAPI, HTTPException
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
    if len(tokenizer.tokenize(job.text)) > 510:
        raise HTTPException(413, "at most 510 tokens; send paragraphs one by one")
    batch = tokenizer([job.text], return_tensors="pt", truncation=True, max_length=512)
    with torch.no_grad():
        ids = model.generate(**batch, max_new_tokens=400)
    return {"translation": tokenizer.decode(ids[0], skip_special_tokens=True)}
