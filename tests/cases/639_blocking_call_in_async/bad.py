import asyncio

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "distilbert-base-uncased-finetuned-sst-2-english"
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSequenceClassification.from_pretrained(NAME).eval()


@torch.inference_mode()
def score(texts):
    encoded = tokenizer(texts, padding=True, return_tensors="pt")
    return model(**encoded).logits.softmax(-1)[:, 1].tolist()


async def batcher(queue):
    while True:
        waiting = [await queue.get()]
        while not queue.empty() and len(waiting) < 16:
            waiting.append(queue.get_nowait())
        scores = score([text for text, _ in waiting])  # EXPECT: blocking_call_in_async
        for (_, future), value in zip(waiting, scores):
            future.set_result(value)


async def client(queue, text):
    future = asyncio.get_running_loop().create_future()
    await queue.put((text, future))
    return await future


async def main(texts):
    queue = asyncio.Queue()
    worker = asyncio.create_task(batcher(queue))
    print(await asyncio.gather(*(client(queue, text) for text in texts)))
    worker.cancel()


if __name__ == "__main__":
    asyncio.run(main(["good", "bad"]))
