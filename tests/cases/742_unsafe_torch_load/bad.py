from pathlib import Path

import torch
from fastapi import FastAPI

app = FastAPI()
UPLOADS = Path("uploads")


@app.post("/adapters/{name}")
def activate(name: str):
    state = torch.load(UPLOADS / name, map_location="cpu", weights_only=False)  # EXPECT: unsafe_torch_load
    app.state.adapter = {key: value.half() for key, value in state.items()}
    return {"tensors": len(state)}
