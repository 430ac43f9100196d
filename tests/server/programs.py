"""Programs that tests open in an editor."""

from __future__ import annotations

__all__ = ["CLEAN", "FAULTY"]

FAULTY = """\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
model.eval()


def score(text):
    with torch.no_grad():
        return model(**tokenizer(text, return_tensors="pt")).logits
"""
"""Its tokenizer is that of another model: LLM101 on line 3 from 0, with an unsafe fix."""

CLEAN = FAULTY.replace('"bert-base-cased"', '"bert-base-uncased"')
