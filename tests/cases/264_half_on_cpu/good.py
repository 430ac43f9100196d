import sys

import torch
from transformers import pipeline

NAME = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"


def build(gpu):
    if gpu:
        return pipeline("text-generation", model=NAME, torch_dtype=torch.float16, device=0)
    return pipeline("text-generation", model=NAME, torch_dtype=torch.bfloat16, device="cpu")


if __name__ == "__main__":
    generator = build(torch.cuda.is_available())
    for line in sys.stdin:
        print(generator(line, max_new_tokens=64, return_full_text=False)[0]["generated_text"])
