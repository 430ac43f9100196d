from fastapi import FastAPI
from service import Service

app = FastAPI()
service = Service("gpt2")

@app.post("/complete")
async def complete(prompt: str):
    return {"text": service.complete(prompt)}  # <- LLM901
