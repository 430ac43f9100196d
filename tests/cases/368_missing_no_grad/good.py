import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModelForSequenceClassification, AutoTokenizer

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("ProsusAI/finbert")
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert").eval()


class Question(BaseModel):
    text: str


async def scores_of(text):
    batch = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        return model(**batch).logits.softmax(-1)[0].tolist()


@app.post("/score")
async def score(question: Question):
    return {"scores": await scores_of(question.text)}
