import sys

import config
import torch
from data import build_tokenizer
from model import build_model

config.MODEL = config.TOKENIZER = "sentence-transformers/all-MiniLM-L6-v2"
tokenizer, model = build_tokenizer(), build_model()
with torch.no_grad():
    for line in sys.stdin:
        inputs = tokenizer(line, return_tensors="pt")
        print(model(**inputs).last_hidden_state.mean(dim=1).tolist())
