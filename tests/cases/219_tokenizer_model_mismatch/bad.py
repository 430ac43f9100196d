from dataclasses import dataclass

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase


@dataclass
class Bundle:
    tokenizer: PreTrainedTokenizerBase
    model: PreTrainedModel

    def surprise(self, sentence: str) -> float:
        batch = self.tokenizer(sentence, return_tensors="pt")
        with torch.no_grad():
            return self.model(**batch, labels=batch["input_ids"]).loss.item()


bundle = Bundle(
    tokenizer=AutoTokenizer.from_pretrained("albert-base-v2"),  # EXPECT: tokenizer_model_mismatch
    model=AutoModelForMaskedLM.from_pretrained("bert-base-cased"),
)
print(bundle.surprise("The colourless ideas sleep."))
