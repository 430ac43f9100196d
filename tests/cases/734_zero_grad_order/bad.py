import torch


class Finetuner:
    def __init__(self, model, loader, lr=5e-5, device="cuda"):
        self.model = model.to(device)
        self.loader = loader
        self.device = device
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def training_step(self, batch):
        batch = {name: value.to(self.device) for name, value in batch.items()}
        loss = self.model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.zero_grad()  # EXPECT: zero_grad_order
        self.optimizer.step()
        return loss.item()

    def fit(self, epochs):
        torch.manual_seed(5)
        self.model.train()
        for epoch in range(epochs):
            losses = [self.training_step(batch) for batch in self.loader]
            print(epoch, sum(losses) / len(losses))
