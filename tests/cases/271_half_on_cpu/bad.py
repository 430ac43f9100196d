import time

import torch
from transformers import AutoModel, AutoTokenizer

NAME = "sentence-transformers/all-MiniLM-L6-v2"


@torch.inference_mode()
def latency(model, batch, rounds=20):
    start = time.perf_counter()
    for _ in range(rounds):
        model(**batch)
    return (time.perf_counter() - start) / rounds


def main():
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    batch = tokenizer(["how fast is this"] * 32, return_tensors="pt")
    model = AutoModel.from_pretrained(NAME).cuda().half()
    print("gpu", latency(model, batch.to("cuda")))
    model.cpu()  # EXPECT: half_on_cpu
    print("cpu", latency(model, batch.to("cpu")))


if __name__ == "__main__":
    main()
