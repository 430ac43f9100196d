import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "unitary/toxic-bert"
app = FastAPI(title="moderation")
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSequenceClassification.from_pretrained(NAME)
model.eval()


class Comment(BaseModel):
    text: str


@app.post("/score")
def score(comment: Comment) -> dict[str, float]:
    inputs = tokenizer(comment.text, return_tensors="pt")
    logits = model(**inputs).logits  # EXPECT: missing_no_grad
    probabilities = torch.sigmoid(logits)[0].tolist()
    return dict(zip(model.config.id2label.values(), probabilities))
