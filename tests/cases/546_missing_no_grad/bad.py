import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "EleutherAI/pythia-160m"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name).eval()

METRICS = {
    "nll": lambda ids: model(ids, labels=ids).loss.item(),  # EXPECT: missing_no_grad
    "length": lambda ids: ids.shape[1],
}


def report(texts):
    for text in texts:
        ids = tokenizer(text, return_tensors="pt").input_ids
        print({key: metric(ids) for key, metric in METRICS.items()})


report(["Hello there.", "General Kenobi."])
