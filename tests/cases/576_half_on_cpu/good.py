from contextlib import asynccontextmanager

import torch
from fastapi import FastAPI
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "cross-encoder/ms-marco-MiniLM-L6-v2"
state = {}


@asynccontextmanager
async def lifespan(app):
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = AutoModelForSequenceClassification.from_pretrained(NAME)
    model.to(device)
    if device.type == "cuda":
        model.half()
    state.update(model=model.eval(), tokenizer=AutoTokenizer.from_pretrained(NAME), device=device)
    yield
    state.clear()


app = FastAPI(lifespan=lifespan)


@app.post("/score")
def score(query: str, passage: str):
    enc = state["tokenizer"](query, passage, return_tensors="pt").to(state["device"])
    with torch.inference_mode():
        return {"score": state["model"](**enc).logits.item()}
