import sys

import torch
from transformers import pipeline


def build():
    return pipeline(
        "text-generation",
        model="TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        torch_dtype=torch.float16,  # EXPECT: half_on_cpu
        device=-1,
    )


if __name__ == "__main__":
    generator = build()
    for line in sys.stdin:
        print(generator(line, max_new_tokens=64, return_full_text=False)[0]["generated_text"])
