from contextlib import asynccontextmanager

import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModel, AutoTokenizer

state = {}


@asynccontextmanager
async def lifespan(app: FastAPI):
    state["tokenizer"] = AutoTokenizer.from_pretrained(  # EXPECT: tokenizer_model_mismatch
        "sentence-transformers/all-mpnet-base-v2"
    )
    state["model"] = AutoModel.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")
    yield
    state.clear()


app = FastAPI(lifespan=lifespan)


class Query(BaseModel):
    text: str


@app.post("/embed")
def embed(query: Query):
    batch = state["tokenizer"](query.text, return_tensors="pt")
    with torch.inference_mode():
        hidden = state["model"](**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    vector = (hidden * mask).sum(1) / mask.sum(1)
    return {"embedding": vector[0].tolist()}
