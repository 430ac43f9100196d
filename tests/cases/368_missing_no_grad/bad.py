import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModelForSequenceClassification, AutoTokenizer

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("ProsusAI/finbert")
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert").eval()


class Question(BaseModel):
    text: str


@torch.inference_mode()
async def warm_scores_of(text):
    batch = tokenizer(text, return_tensors="pt")
    return model(**batch).logits.softmax(-1)[0].tolist()  # EXPECT: missing_no_grad


@app.on_event("startup")
async def show_some():
    for text in ("profits rise", "profits fall"):
        print(text, await warm_scores_of(text))


@app.post("/question")
async def keep(question: Question):
    return {"length": len(question.text)}
