import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer, enable_full_determinism

from negatives import with_negative
from rows import read_pairs

NAME = "thenlper/gte-base"


def main():
    enable_full_determinism(99)
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    encoder = AutoModel.from_pretrained(NAME)
    projection = nn.Linear(768, 128)
    parameters = [*encoder.parameters(), *projection.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-5)
    loss_fn = nn.TripletMarginLoss()
    for triple in with_negative(read_pairs("pairs.tsv")):
        vectors = [
            projection(encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[:, 0]) for text in triple
        ]
        loss = loss_fn(*vectors)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
