import torch
import torch.nn.functional as F
from collections import defaultdict


def losses_of(student, teacher, batch):
    logits = student(batch["input_ids"])
    with torch.no_grad():
        wanted = teacher(batch["input_ids"])
    hard = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
    soft = F.mse_loss(logits, wanted)
    return hard, soft


def distil(student, teacher, loader, optimizer, alpha=0.5):
    student.train()
    teacher.eval()
    totals = defaultdict(float)
    for batch in loader:
        hard, soft = losses_of(student, teacher, batch)
        loss = (1 - alpha) * hard + alpha * soft
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        totals["hard"] += hard
        totals["steps"] += 1
    return {name: float(value) / totals["steps"] for name, value in totals.items()}
