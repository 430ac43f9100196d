from typing import Optional

import torch
import typer
from torch import nn

app = typer.Typer()


@app.command()
def train(path: str, epochs: int = 3, seed: Optional[int] = None):
    if seed is not None:
        torch.manual_seed(seed)
    head = nn.Linear(768, 3)
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-2)
    for _ in range(epochs):
        for vectors, labels in torch.load(path):
            loss = nn.functional.cross_entropy(head(vectors), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    torch.save(head.state_dict(), "head.pt")


if __name__ == "__main__":
    app()
