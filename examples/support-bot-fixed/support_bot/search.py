"""Find the help page that answers a question, by the similarity of embeddings."""

import torch
from transformers import AutoModel, AutoTokenizer

CHECKPOINT = "sentence-transformers/all-MiniLM-L6-v2"


class HelpPages:
    """An index over help pages, held in memory."""

    def __init__(self, pages):
        self.tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        self.encoder = AutoModel.from_pretrained(CHECKPOINT)
        self.encoder.eval()
        self.pages = pages
        self.vectors = torch.stack([self.embed(page) for page in pages])

    @torch.inference_mode()
    def embed(self, text):
        """One vector for the whole text: long texts are read in overlapping windows."""
        encoded = self.tokenizer(
            text,
            truncation=True,
            max_length=256,
            stride=32,
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        encoded.pop("overflow_to_sample_mapping")
        mask = encoded["attention_mask"].unsqueeze(-1)
        states = self.encoder(**encoded).last_hidden_state * mask
        return torch.nn.functional.normalize(states.sum(dim=(0, 1)) / mask.sum(), dim=0)

    def best(self, question):
        """The page closest to the question."""
        similarity = self.vectors @ self.embed(question)
        return self.pages[similarity.argmax().item()]
