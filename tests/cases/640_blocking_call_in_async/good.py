from fastapi import APIRouter, FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sentence_transformers import CrossEncoder, SentenceTransformer
from vllm import AsyncEngineArgs, AsyncLLMEngine, SamplingParams

router = APIRouter()
encoder = SentenceTransformer("BAAI/bge-small-en-v1.5")
ranker = CrossEncoder("cross-encoder/ms-marco-MiniLM-L-6-v2")
engine = AsyncLLMEngine.from_engine_args(AsyncEngineArgs(model="Qwen/Qwen2.5-0.5B-Instruct"))


class Store:
    async def nearest(self, vector, count):
        raise NotImplementedError


store = Store()


def ranked(query, texts):
    scores = ranker.predict([(query, text) for text in texts])
    return [text for _, text in sorted(zip(scores, texts), reverse=True)]


@router.post("/rank")
def rank(query: str, texts: list[str]):
    return ranked(query, texts)


@router.post("/ask")
async def ask(query: str):
    vector = await run_in_threadpool(encoder.encode, query)
    texts = await store.nearest(vector, 20)
    best = await run_in_threadpool(ranked, query, texts)
    prompt = "\n".join([*best[:3], query])
    outputs = engine.generate(prompt, SamplingParams(max_tokens=128), "1")
    return StreamingResponse(output.outputs[0].text async for output in outputs)


app = FastAPI()
app.include_router(router)
