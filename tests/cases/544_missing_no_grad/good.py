import torch
import torch.multiprocessing as mp
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "distilbert-base-uncased-finetuned-sst-2-english"


def serve(model, tokenizer, tasks, results, device):
    while (item := tasks.get()) is not None:
        key, text = item
        enc = tokenizer(text, return_tensors="pt").to(device)
        results.put((key, model(**enc).logits.softmax(-1)[0].tolist()))


def worker(rank, tasks, results):
    device = f"cuda:{rank}"
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME).to(device)
    with torch.inference_mode():
        serve(model, tokenizer, tasks, results, device)


def main(texts):
    mp.set_start_method("spawn")
    tasks, results = mp.Queue(), mp.Queue()
    workers = [mp.Process(target=worker, args=(i, tasks, results)) for i in range(torch.cuda.device_count())]
    for process in workers:
        process.start()
    for item in enumerate(texts):
        tasks.put(item)
    for _ in workers:
        tasks.put(None)
    return [results.get() for _ in texts]
