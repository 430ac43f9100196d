import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = "google/flan-t5-base"


def load(name=MODEL):
    return AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name, device_map="auto")


@torch.no_grad()
def answers(questions):
    tokenizer, model = load()
    for question in questions:
        inputs = tokenizer(question, return_tensors="pt").to(model.device)
        ids = model.generate(**inputs, max_new_tokens=32)
        yield tokenizer.decode(ids[0], skip_special_tokens=True)


if __name__ == "__main__":
    for answer in answers(json.load(open(sys.argv[1]))):
        print(answer)
