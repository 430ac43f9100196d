import torch
from torch import nn
from transformers import T5Config, T5EncoderModel, T5Tokenizer


class Ranker(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = T5EncoderModel(config)
        self.score = nn.Linear(config.d_model, 1)

    def forward(self, input_ids, attention_mask):
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
        return self.score((hidden * weights).sum(1) / weights.sum(1)).squeeze(-1)


class Service:
    def __init__(self, weights, device):
        self.device = device
        self.tokenizer = T5Tokenizer.from_pretrained("google-t5/t5-small")
        self.ranker = Ranker(T5Config.from_pretrained("google-t5/t5-small"))
        self.ranker.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
        self.ranker.to(device)
        self.ranker.eval()

    @torch.inference_mode()
    def order(self, query, passages):
        pairs = [f"query: {query} document: {passage}"[:2000] for passage in passages]
        inputs = self.tokenizer(pairs, padding=True, return_tensors="pt").to(self.device)
        scores = self.ranker(inputs["input_ids"], inputs["attention_mask"])
        return [passages[index] for index in scores.argsort(descending=True).tolist()]
