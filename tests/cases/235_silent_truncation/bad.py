from functools import partial
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("allenai/scibert_scivocab_uncased")
model = AutoModel.from_pretrained("allenai/scibert_scivocab_uncased").eval()
encode = partial(tokenizer, truncation=True, max_length=512, return_tensors="pt")


@torch.no_grad()
def vector(paper: Path) -> torch.Tensor:
    batch = encode(paper.read_text(encoding="utf-8"))  # EXPECT: silent_truncation
    return model(**batch).last_hidden_state[0, 0]


if __name__ == "__main__":
    papers = sorted(Path("papers").glob("*.txt"))
    torch.save({paper.stem: vector(paper) for paper in papers}, "papers.pt")
