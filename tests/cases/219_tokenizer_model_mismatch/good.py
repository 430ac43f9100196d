from dataclasses import dataclass

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase


@dataclass
class Bundle:
    tokenizer: PreTrainedTokenizerBase
    model: PreTrainedModel

    @classmethod
    def load(cls, name: str) -> "Bundle":
        return cls(AutoTokenizer.from_pretrained(name), AutoModelForMaskedLM.from_pretrained(name))

    def surprise(self, sentence: str) -> float:
        batch = self.tokenizer(sentence, return_tensors="pt")
        with torch.no_grad():
            return self.model(**batch, labels=batch["input_ids"]).loss.item()


for name in ("albert-base-v2", "bert-base-cased"):
    print(name, Bundle.load(name).surprise("The colourless ideas sleep."))
