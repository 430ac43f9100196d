/** Programs that the tests open. */

export const FAULTY = `\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer


def main():
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased").eval()
    with torch.no_grad():
        print(model(**tokenizer("text", return_tensors="pt")).logits)


main()
`;

/** The tokenizer in it is that of another model, LLM101; its fix isn't safe. */
export const REPAIRED = FAULTY.replace('"bert-base-cased"', '"bert-base-uncased"');

/** Its sum keeps the graph of every step; the fix is safe. */
export const LEAKING = `\
import torch
from transformers import AutoModelForMaskedLM


def train(loader):
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    optimizer = torch.optim.AdamW(model.parameters())
    total = 0.0
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
    return total / len(loader)
`;

/** A loss that is NaN in its third step. */
export const DIVERGING = `\
import torch


def train(steps):
    model = torch.nn.Linear(2, 2)
    for step in range(steps):
        x = torch.full((4, 2), float("nan") if step == 2 else 1.0)
        logits = model(x)
        loss = logits.sum()
        loss.backward()


train(4)
`;

export const MODULE = `\
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)
`;

/** The text of a notebook with these code cells. */
export function notebook(...cells: readonly string[]): string {
  return JSON.stringify({
    cells: cells.map((source, index) => ({
      cell_type: "code",
      id: `cell-${index + 1}`,
      metadata: {},
      execution_count: null,
      outputs: [],
      source: source.split(/(?<=\n)/),
    })),
    metadata: { language_info: { name: "python" } },
    nbformat: 4,
    nbformat_minor: 5,
  });
}
