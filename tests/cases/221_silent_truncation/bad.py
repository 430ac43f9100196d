from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

CHECKPOINT = "facebook/bart-large-cnn"

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
model = AutoModelForSeq2SeqLM.from_pretrained(CHECKPOINT)


class Document(BaseModel):
    text: str


@app.post("/summary")
def summary(document: Document):
    inputs = tokenizer(document.text, truncation=True, max_length=1024, return_tensors="pt")  # EXPECT: silent_truncation
    output = model.generate(**inputs, num_beams=4, max_new_tokens=142)
    return {"summary": tokenizer.decode(output[0], skip_special_tokens=True)}
