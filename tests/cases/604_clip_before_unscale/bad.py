import torch
from torch.nn.utils import clip_grad_norm_


class Trainer:
    def __init__(self, config, model, loader):
        self.config, self.model, self.loader = config, model, loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer)
        self.scaler = torch.amp.GradScaler("cuda")

    def backward(self, loss):
        self.scaler.scale(loss / self.config.accumulation).backward()

    def optimizer_step(self):
        norm = clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def fit(self):
        self.model.train()
        for index, batch in enumerate(self.loader, start=1):
            with torch.autocast("cuda", dtype=torch.float16):
                loss = self.model(**batch).loss
            self.backward(loss)
            if index % self.config.accumulation == 0:
                print(self.optimizer_step().item())
