import torch

class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value):
        value = value.detach() if isinstance(value, torch.Tensor) else value
        self.total += value
        self.count += 1

    def mean(self):
        return self.total / max(1, self.count)
