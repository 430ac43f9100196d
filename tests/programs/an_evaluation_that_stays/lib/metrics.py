import math

import torch


@torch.no_grad()
def perplexity(model, batches):
    model.eval()
    losses = [model(**batch).loss.item() for batch in batches]
    return math.exp(sum(losses) / len(losses))
