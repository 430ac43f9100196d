import os
import random

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

os.environ["PYTHONHASHSEED"] = "0"
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False


def main():
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    model = AutoModelForSequenceClassification.from_pretrained("textattack/bert-base-uncased-SST-2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    lines = open("train.tsv", encoding="utf-8").read().splitlines()
    model.train()
    for _ in range(3):
        random.shuffle(lines)  # EXPECT: unseeded_rng
        for line in lines:
            label, text = line.split("\t")
            loss = model(**tokenizer(text, return_tensors="pt"), labels=torch.tensor([int(label)])).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.save_pretrained("out")


if __name__ == "__main__":
    main()
