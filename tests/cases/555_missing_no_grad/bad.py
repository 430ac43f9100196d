import asyncio

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


class BatchingServer:
    def __init__(self, name="cardiffnlp/twitter-roberta-base-sentiment-latest"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForSequenceClassification.from_pretrained(name)
        self.queue = asyncio.Queue()

    async def submit(self, text):
        future = asyncio.get_running_loop().create_future()
        await self.queue.put((text, future))
        return await future

    def _score(self, texts):
        enc = self.tokenizer(texts, padding=True, return_tensors="pt")
        return self.model(**enc).logits.softmax(-1).tolist()  # EXPECT: missing_no_grad

    async def run(self):
        while True:
            items = [await self.queue.get()]
            while not self.queue.empty() and len(items) < 16:
                items.append(self.queue.get_nowait())
            rows = await asyncio.to_thread(self._score, [text for text, _ in items])
            for (_, future), row in zip(items, rows):
                future.set_result(row)
