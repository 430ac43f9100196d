import json
import os
import random

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def make_repeatable(settings):
    seed = settings.get("seed", 0)
    os.environ["PYTHONHASHSEED"] = str(seed)
    for seeded in (random.seed, np.random.seed, torch.manual_seed):
        seeded(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def main():
    with open("settings.json", encoding="utf-8") as handle:
        make_repeatable(json.load(handle))
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    model = AutoModelForSequenceClassification.from_pretrained("textattack/bert-base-uncased-SST-2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    lines = open("train.tsv", encoding="utf-8").read().splitlines()
    model.train()
    for _ in range(3):
        random.shuffle(lines)
        for line in lines:
            label, text = line.split("\t")
            loss = model(**tokenizer(text, return_tensors="pt"), labels=torch.tensor([int(label)])).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.save_pretrained("out")


if __name__ == "__main__":
    main()
