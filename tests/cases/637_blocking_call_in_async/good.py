import asyncio
from contextlib import asynccontextmanager

from fastapi import FastAPI, WebSocket
from transformers import pipeline

models = {}


@asynccontextmanager
async def lifespan(app):
    models["chat"] = pipeline("text-generation", model="HuggingFaceTB/SmolLM2-135M-Instruct")
    models["chat"]("hello", max_new_tokens=1)
    yield
    models.clear()


app = FastAPI(lifespan=lifespan)


def reply(history):
    answer = models["chat"](history, max_new_tokens=128)
    return answer[0]["generated_text"][-1]["content"]


@app.get("/health")
async def health():
    return {"ready": "chat" in models}


@app.websocket("/chat")
async def chat(socket: WebSocket):
    await socket.accept()
    history = []
    while True:
        history.append({"role": "user", "content": await socket.receive_text()})
        text = await asyncio.to_thread(reply, history)
        history.append({"role": "assistant", "content": text})
        await socket.send_text(text)
