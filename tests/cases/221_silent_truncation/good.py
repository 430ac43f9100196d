from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

CHECKPOINT = "facebook/bart-large-cnn"
LIMIT = 1024

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
model = AutoModelForSeq2SeqLM.from_pretrained(CHECKPOINT)


class Document(BaseModel):
    text: str


@app.post("/summary")
def summary(document: Document):
    length = len(tokenizer(document.text)["input_ids"])
    if length > LIMIT:
        raise HTTPException(413, f"{length} tokens, at most {LIMIT} are read")
    inputs = tokenizer(document.text, truncation=True, max_length=LIMIT, return_tensors="pt")
    output = model.generate(**inputs, num_beams=4, max_new_tokens=142)
    return {"summary": tokenizer.decode(output[0], skip_special_tokens=True)}
