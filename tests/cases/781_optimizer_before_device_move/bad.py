import torch
from transformers import AutoModelForTokenClassification


class Run:
    def __init__(self, name, labels, saved=None):
        torch.manual_seed(11)
        self.model = AutoModelForTokenClassification.from_pretrained(name, num_labels=labels)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-5)  # EXPECT: optimizer_before_device_move
        if saved is not None:
            state = torch.load(saved, map_location="cpu", weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        self.model.to("cuda")

    def epoch(self, loader):
        self.model.train()
        for batch in loader:
            loss = self.model(**{key: value.to("cuda") for key, value in batch.items()}).loss
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
