import random

import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer

from rows import read_pairs


def train(path, steps=1000, lr=2e-5, seed=None):
    """Contrastive tuning with one random negative per question."""
    random.seed(seed)
    if seed is not None:
        torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-small-en-v1.5")
    encoder = AutoModel.from_pretrained("BAAI/bge-small-en-v1.5")
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=lr)
    pairs = read_pairs(path)

    def vector(text):
        return encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[:, 0]

    encoder.train()
    for step in range(steps):
        question, passage = pairs[step % len(pairs)]
        negative = random.choice(pairs)[1]
        anchor = vector(question)
        margin = F.cosine_similarity(anchor, vector(passage)) - F.cosine_similarity(anchor, vector(negative))
        loss = F.relu(0.2 - margin).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    encoder.save_pretrained("tuned")
