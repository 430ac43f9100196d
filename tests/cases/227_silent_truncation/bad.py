from dataclasses import dataclass

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer


@dataclass
class TaggerConfig:
    checkpoint: str = "emilyalsentzer/Bio_ClinicalBERT"
    max_len: int = 384
    device: str = "cpu"


class LetterTagger:
    def __init__(self, config: TaggerConfig):
        self.cfg = config
        self.tok = AutoTokenizer.from_pretrained(config.checkpoint)
        self.net = AutoModelForTokenClassification.from_pretrained(config.checkpoint).to(config.device).eval()

    def tag(self, letter: str) -> list[str]:
        enc = self.tok(letter, max_length=self.cfg.max_len, truncation=True, return_tensors="pt")  # EXPECT: silent_truncation
        with torch.no_grad():
            best = self.net(**enc.to(self.cfg.device)).logits.argmax(-1)[0]
        return [self.net.config.id2label[i] for i in best.tolist()]


if __name__ == "__main__":
    import sys

    tagger = LetterTagger(TaggerConfig())
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as handle:
            print(name, tagger.tag(handle.read()))
