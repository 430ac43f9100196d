import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "EleutherAI/pythia-160m"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name).eval()


@torch.no_grad()
def nll(ids):
    return model(ids, labels=ids).loss.item()


METRICS = {"nll": nll, "length": lambda ids: ids.shape[1]}
OBJECTIVES = {"lm": lambda m, ids: m(ids, labels=ids).loss, "norm": lambda m, ids: m(ids).logits.square().mean()}


def report(texts):
    for text in texts:
        ids = tokenizer(text, return_tensors="pt").input_ids
        print({key: metric(ids) for key, metric in METRICS.items()})


def fit(batches, objective="lm"):
    student = AutoModelForCausalLM.from_pretrained(name).train()
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-5)
    for ids in batches:
        loss = OBJECTIVES[objective](student, ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


report(["Hello there.", "General Kenobi."])
