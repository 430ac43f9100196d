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


def distil(student, teacher, loader, optimizer, alpha=0.5, accumulation=4):
    student.train()
    teacher.eval()
    totals = defaultdict(float)
    pending = 0.0
    for step, batch in enumerate(loader, start=1):
        hard, soft = losses_of(student, teacher, batch)
        pending = pending + ((1 - alpha) * hard + alpha * soft) / accumulation
        totals["hard"] += hard.detach()
        totals["steps"] += 1
        if step % accumulation == 0:
            optimizer.zero_grad()
            pending.backward()
            optimizer.step()
            pending = 0.0
    return {name: float(value) / totals["steps"] for name, value in totals.items()}
