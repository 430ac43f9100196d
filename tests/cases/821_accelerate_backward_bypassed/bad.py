import torch
from accelerate import Accelerator
from torch import nn


class Distiller:
    """A student that learns a teacher's scores, in float16."""

    def __init__(self, student, teacher, lr=1e-4):
        self.accelerator = Accelerator(mixed_precision="fp16")
        self.teacher = teacher.eval().requires_grad_(False)
        optimizer = torch.optim.AdamW(student.parameters(), lr=lr)
        self.student, self.optimizer = self.accelerator.prepare(student, optimizer)
        self.criterion = nn.MSELoss()

    def loss(self, ids):
        with torch.no_grad():
            wanted = self.teacher(ids)
        return self.criterion(self.student(ids), wanted)

    def fit(self, loader):
        self.student.train()
        for ids in self.accelerator.prepare(loader):
            loss = self.loss(ids)
            loss.backward()  # EXPECT: accelerate_backward_bypassed
            self.optimizer.step()
            self.optimizer.zero_grad()
