import torch

class Amp:
    def __init__(self, optimizer):
        self.scaler = torch.amp.GradScaler("cuda")
        self.optimizer = optimizer

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def clip(self, model, limit):
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), limit)

    def step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()
