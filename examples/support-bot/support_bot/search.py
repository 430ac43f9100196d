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
        self.vectors = torch.cat([self.embed(page) for page in pages])

    @torch.inference_mode()
    def embed(self, text):
        encoded = self.tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        states = self.encoder(**encoded).last_hidden_state
        return torch.nn.functional.normalize(states.mean(dim=1))

    def best(self, question):
        """The page closest to the question."""
        similarity = self.vectors @ self.embed(question).T
        return self.pages[similarity.argmax().item()]
