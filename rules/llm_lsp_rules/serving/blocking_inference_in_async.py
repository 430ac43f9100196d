"""LLM901 blocking-inference-in-async."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, EnsureImport, Facts, Good, Replace, Report, Rule, Severity


class BlockingInferenceInAsync(Rule):
    """A coroutine computes with a model in the event loop's own thread.

    An event loop serves all its tasks in one thread, and changes between them only at an `await`. While `generate`, a
    forward pass, a pipeline or an encoder computes there, nothing else happens: no other request is read, no token is
    streamed, no health check is answered, and an orchestrator restarts a server that is merely busy.

    Let a thread compute: `await asyncio.to_thread(model.generate, **inputs)`, an executor, or, where the framework
    runs plain functions in threads as FastAPI does, a handler that is a `def`. A thread begins with gradients on and
    without autocast, so what the coroutine switches with a block has to be switched in the function that the thread
    runs. An engine made for serving, such as vLLM's `AsyncLLMEngine`, is awaited.

    Reported is the call in the innermost coroutine that leads to the model, through functions and methods too. Silent
    are start-up, warm-up and lifespans, what a thread or an executor runs, generators that are handed on, and a script
    that runs a single coroutine.
    """

    code = "LLM901"
    severity = Severity.WARNING
    triggers = ("async def",)
    bad = [
        # A route.
        Bad(
            """\
import torch
from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoTokenizer

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

@app.post("/complete")
async def complete(prompt: str):
    inputs = tokenizer(prompt, return_tensors="pt")
    ids = model.generate(**inputs, max_new_tokens=64)  # <- `model.generate` holds up the event loop until the model is done
    return {"text": tokenizer.decode(ids[0])}
""",
            fixed="""\
import asyncio

import torch
from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoTokenizer

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

@app.post("/complete")
async def complete(prompt: str):
    inputs = tokenizer(prompt, return_tensors="pt")
    ids = await asyncio.to_thread(model.generate, **inputs, max_new_tokens=64)
    return {"text": tokenizer.decode(ids[0])}
""",
        ),
        # A class whose synchronous methods a coroutine calls.
        Bad(
            """\
import asyncio

from sentence_transformers import SentenceTransformer

class Index:
    def __init__(self, name):
        self.encoder = SentenceTransformer(name)
        self.lock = asyncio.Lock()

    def embed(self, texts):
        return self.encoder.encode(texts, normalize_embeddings=True)

    async def search(self, query):
        async with self.lock:
            return self.embed([query])[0]  # <- `self.embed` holds up the event loop
""",
            fixed="""\
import asyncio

from sentence_transformers import SentenceTransformer

class Index:
    def __init__(self, name):
        self.encoder = SentenceTransformer(name)
        self.lock = asyncio.Lock()

    def embed(self, texts):
        return self.encoder.encode(texts, normalize_embeddings=True)

    async def search(self, query):
        async with self.lock:
            return (await asyncio.to_thread(self.embed, [query]))[0]
""",
        ),
        # A model that a lifespan loads.
        Bad(
            """\
from contextlib import asynccontextmanager

from fastapi import FastAPI
from transformers import pipeline

models = {}

@asynccontextmanager
async def lifespan(app):
    models["mood"] = pipeline("sentiment-analysis", model="distilbert-base-uncased-finetuned-sst-2-english")
    models["mood"]("warm up")
    yield
    models.clear()

app = FastAPI(lifespan=lifespan)

@app.get("/mood")
async def mood(text: str):
    return models["mood"](text)[0]  # <- holds up the event loop
""",
            fixed="""\
import asyncio
from contextlib import asynccontextmanager

from fastapi import FastAPI
from transformers import pipeline

models = {}

@asynccontextmanager
async def lifespan(app):
    models["mood"] = pipeline("sentiment-analysis", model="distilbert-base-uncased-finetuned-sst-2-english")
    models["mood"]("warm up")
    yield
    models.clear()

app = FastAPI(lifespan=lifespan)

@app.get("/mood")
async def mood(text: str):
    return (await asyncio.to_thread(models["mood"], text))[0]
""",
        ),
        # A helper called from a loop; a thread would not see the block around it.
        Bad(
            """\
import torch
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert")

def score(ids):
    return model(torch.tensor([ids])).logits.argmax(-1).item()

async def consume(queue, answers):
    while True:
        batch = await queue.get()
        with torch.no_grad():
            for ids in batch:
                answers.put_nowait(score(ids))  # <- `score` holds up the event loop
""",
        ),
        # Arguments over several lines.
        Bad(
            """\
import asyncio
from transformers import pipeline

writer = pipeline("text-generation", model="gpt2")

async def write(prompt):
    texts = writer(  # <- `writer` holds up the event loop
        prompt,
        max_new_tokens=32,
    )
    return texts[0]["generated_text"]

async def main(prompts):
    return await asyncio.gather(*[write(prompt) for prompt in prompts])

print(asyncio.run(main(["a", "b"])))
""",
            fixed="""\
import asyncio
from transformers import pipeline

writer = pipeline("text-generation", model="gpt2")

async def write(prompt):
    texts = await asyncio.to_thread(
        writer,
        prompt,
        max_new_tokens=32,
    )
    return texts[0]["generated_text"]

async def main(prompts):
    return await asyncio.gather(*[write(prompt) for prompt in prompts])

print(asyncio.run(main(["a", "b"])))
""",
        ),
        # What is started at start-up works on while others are served.
        Bad(
            """\
import asyncio

from fastapi import FastAPI
from transformers import pipeline

app = FastAPI()
write = pipeline("text-generation", model="gpt2")
waiting = asyncio.Queue()

async def work():
    while True:
        prompt, answer = await waiting.get()
        answer.set_result(write(prompt))  # <- `write` holds up the event loop

@app.on_event("startup")
async def start():
    app.state.worker = asyncio.create_task(work())
""",
            fixed="""\
import asyncio

from fastapi import FastAPI
from transformers import pipeline

app = FastAPI()
write = pipeline("text-generation", model="gpt2")
waiting = asyncio.Queue()

async def work():
    while True:
        prompt, answer = await waiting.get()
        answer.set_result(await asyncio.to_thread(write, prompt))

@app.on_event("startup")
async def start():
    app.state.worker = asyncio.create_task(work())
""",
        ),
        # A stream that is made of one long computation, and an engine that is not made for event loops.
        Bad(
            """\
from vllm import LLM

engine = LLM("gpt2")

def tokens(prompt):
    for output in engine.generate([prompt]):
        yield output.outputs[0].text

async def stream(socket, prompt):
    for text in tokens(prompt):  # <- `tokens` holds up the event loop
        await socket.send_text(text)
""",
            fixed=None,
        ),
        # The model lives in another module.
        Bad(
            {
                "engine.py": """\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Engine:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)

    def complete(self, prompt):
        ids = self.model.generate(**self.tokenizer(prompt, return_tensors="pt"), max_new_tokens=32)
        return self.tokenizer.decode(ids[0])
""",
                "main.py": """\
import asyncio

from aiohttp import web

from engine import Engine

engine = Engine("gpt2")

async def complete(request):
    prompt = await request.text()
    return web.json_response(engine.complete(prompt))  # <- `engine.complete` holds up the event loop
""",
            },
            fixed={
                "engine.py": """\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Engine:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)

    def complete(self, prompt):
        ids = self.model.generate(**self.tokenizer(prompt, return_tensors="pt"), max_new_tokens=32)
        return self.tokenizer.decode(ids[0])
""",
                "main.py": """\
import asyncio

from aiohttp import web

from engine import Engine

engine = Engine("gpt2")

async def complete(request):
    prompt = await request.text()
    return web.json_response(await asyncio.to_thread(engine.complete, prompt))
""",
            },
        ),
        # Cells of a notebook.
        Bad(
            {
                "serve.ipynb": [
                    "from aiohttp import web\nfrom transformers import pipeline",
                    "classify = pipeline('text-classification', model='ProsusAI/finbert')",
                    (
                        "async def handle(request):\n    text = await request.text()\n"
                        "    return web.json_response(classify(text))  # <- `classify` holds up the event loop"
                    ),
                ]
            },
            fixed={
                "serve.ipynb": [
                    "import asyncio\n\nfrom aiohttp import web\nfrom transformers import pipeline",
                    "classify = pipeline('text-classification', model='ProsusAI/finbert')",
                    (
                        "async def handle(request):\n    text = await request.text()\n"
                        "    return web.json_response(await asyncio.to_thread(classify, text))"
                    ),
                ]
            },
        ),
    ]
    good = [
        Good("""\
import asyncio

from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoTokenizer

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

@app.post("/complete")
async def complete(prompt: str):
    inputs = tokenizer(prompt, return_tensors="pt")
    ids = await asyncio.to_thread(model.generate, **inputs, max_new_tokens=64)
    return {"text": tokenizer.decode(ids[0])}
"""),
        # FastAPI runs a plain function in a thread.
        Good("""\
from fastapi import FastAPI
from transformers import pipeline

app = FastAPI()
classify = pipeline("text-classification", model="ProsusAI/finbert")

@app.get("/classify")
def label(text: str):
    return classify(text)[0]
"""),
        Good("""\
import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor

from fastapi.concurrency import run_in_threadpool
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("intfloat/e5-small-v2")
pool = ThreadPoolExecutor(1)

async def embed(texts):
    loop = asyncio.get_running_loop()
    first = await loop.run_in_executor(pool, encoder.encode, texts)
    second = await loop.run_in_executor(None, lambda: encoder.encode(texts))
    third = await loop.run_in_executor(pool, functools.partial(encoder.encode, texts, batch_size=8))
    fourth = await run_in_threadpool(encoder.encode, texts)
    fifth = await asyncio.wrap_future(pool.submit(encoder.encode, texts))
    return first, second, third, fourth, fifth
"""),
        # A function inside, which a thread runs.
        Good("""\
import asyncio

from transformers import pipeline

writer = pipeline("text-generation", model="gpt2")

async def write(prompt):
    def work():
        return writer(prompt, max_new_tokens=32)

    return await asyncio.to_thread(work)
"""),
        # A thread generates, the loop only reads.
        Good("""\
import asyncio
from threading import Thread

from transformers import AutoModelForCausalLM, AutoTokenizer, TextIteratorStreamer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

async def stream(prompt):
    streamer = TextIteratorStreamer(tokenizer, skip_prompt=True, timeout=30)
    inputs = tokenizer(prompt, return_tensors="pt")
    Thread(target=model.generate, kwargs={**inputs, "streamer": streamer, "max_new_tokens": 32}).start()
    while text := await asyncio.to_thread(next, streamer, None):
        yield text
"""),
        # Start-up: nobody is served yet.
        Good("""\
from contextlib import asynccontextmanager

from fastapi import FastAPI
from transformers import pipeline

writer = pipeline("text-generation", model="gpt2")

@asynccontextmanager
async def life(app):
    writer("warm", max_new_tokens=1)
    yield

app = FastAPI(lifespan=life)

@app.on_event("startup")
async def first_run():
    writer("warm", max_new_tokens=1)

async def warm_up():
    writer("warm", max_new_tokens=1)
"""),
        # An engine that is made for event loops.
        Good("""\
from vllm import AsyncEngineArgs, AsyncLLMEngine, SamplingParams

engine = AsyncLLMEngine.from_engine_args(AsyncEngineArgs(model="gpt2"))

async def complete(prompt, name):
    async for output in engine.generate(prompt, SamplingParams(), name):
        last = output
    return last.outputs[0].text
"""),
        # A script with a single coroutine keeps nobody waiting.
        Good("""\
import asyncio

import httpx
from transformers import pipeline

classify = pipeline("text-classification", model="ProsusAI/finbert")

async def main():
    async with httpx.AsyncClient() as client:
        page = await client.get("https://example.org")
    print(classify(page.text[:1000]))

asyncio.run(main())
"""),
        # Nor does one of two: started like this the module serves nobody, and what starts tasks is not run.
        Good("""\
import asyncio

from transformers import pipeline

classify = pipeline("text-classification", model="ProsusAI/finbert")

class Worker:
    async def start(self):
        self.task = asyncio.create_task(self.work())

    async def work(self):
        while True:
            await asyncio.sleep(1)

async def once(text):
    print(classify(text))

if __name__ == "__main__":
    asyncio.run(once("fine"))
"""),
        # A stream that the framework runs in a thread.
        Good("""\
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from transformers import pipeline

app = FastAPI()
writer = pipeline("text-generation", model="gpt2")

def lines(prompts):
    for prompt in prompts:
        yield writer(prompt, max_new_tokens=16)[0]["generated_text"]

@app.post("/lines")
async def answer(prompts: list[str]):
    return StreamingResponse(lines(prompts))
"""),
        # Nothing is computed before somebody asks for the first element.
        Good("""\
from fastapi.responses import StreamingResponse
from transformers import pipeline

writer = pipeline("text-generation", model="gpt2")

async def answers(prompts):
    return StreamingResponse(writer(prompt)[0]["generated_text"] for prompt in prompts)
"""),
        # Decorators that hand the work to somebody else, and a function that returns what is to be awaited.
        Good("""\
import asyncio

from project import in_a_thread
from transformers import pipeline

writer = pipeline("text-generation", model="gpt2")

@in_a_thread
def write(prompt):
    return writer(prompt, max_new_tokens=16)

def later(prompt):
    return asyncio.to_thread(writer, prompt, max_new_tokens=16)

async def answer(prompt):
    return await write(prompt), await later(prompt)

async def start(prompt):
    write(prompt)
"""),
        # One small layer is no model.
        Good("""\
import torch
from torch import nn

scores = nn.Softmax(dim=-1)

async def best(logits):
    return scores(torch.tensor(logits)).argmax().item()
"""),
        # A client of another service has the same words.
        Good("""\
from project import Client

client = Client("http://localhost:8000")

async def answer(prompt):
    vectors = client.encode([prompt])
    return await client.generate(prompt, vectors)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for blocking in facts.blocking_inferences():
            if blocking.is_prepared is not NO or blocking.keeps_others_waiting is not YES:
                continue
            in_a_thread, inner = blocking.in_a_thread, blocking.inference.place
            yield self.report(
                blocking.place,
                f"`{blocking.callee}` holds up the event loop until the model is done",
                related=[(inner, "computes here")] if inner != blocking.place else [],
                help="let a thread compute: `await asyncio.to_thread(...)`",
                fix=[Replace(blocking.place.range, in_a_thread), EnsureImport("asyncio")] if in_a_thread else [],
            )
