from contextlib import asynccontextmanager

import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2"
RERANKER = "BAAI/bge-reranker-base"

state = {}


@asynccontextmanager
async def lifespan(app: FastAPI):
    state["embed_tokenizer"] = AutoTokenizer.from_pretrained("bert-base-uncased")
    state["embedder"] = AutoModel.from_pretrained(EMBEDDER)
    state["rank_tokenizer"] = AutoTokenizer.from_pretrained(RERANKER)
    state["reranker"] = AutoModelForSequenceClassification.from_pretrained(RERANKER)
    yield
    state.clear()


app = FastAPI(lifespan=lifespan)


class Query(BaseModel):
    text: str
    passages: list[str]


@app.post("/embed")
def embed(query: Query):
    batch = state["embed_tokenizer"](query.text, return_tensors="pt")
    with torch.inference_mode():
        hidden = state["embedder"](**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    vector = (hidden * mask).sum(1) / mask.sum(1)
    return {"embedding": vector[0].tolist()}


@app.post("/rerank")
def rerank(query: Query):
    pairs = [[query.text, passage] for passage in query.passages]
    batch = state["rank_tokenizer"](pairs, padding=True, return_tensors="pt")
    with torch.inference_mode():
        scores = state["reranker"](**batch).logits.squeeze(-1)
    return {"scores": scores.tolist()}
