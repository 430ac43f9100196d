import torch
import torch.nn.functional as F
from torch import nn
from transformers import Trainer


class DistillationTrainer(Trainer):
    def __init__(self, *args, teacher=None, temperature=2.0, alpha=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval()
        self.temperature = temperature
        self.alpha = alpha

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        with torch.no_grad():
            teacher_logits = self.teacher(**inputs).logits
        divergence = nn.KLDivLoss(reduction="batchmean")
        soft = divergence(
            F.log_softmax(outputs.logits / self.temperature, dim=-1),
            F.softmax(teacher_logits / self.temperature, dim=-1),
        )
        loss = self.alpha * outputs.loss + (1 - self.alpha) * self.temperature**2 * soft
        return (loss, outputs) if return_outputs else loss


def jensen_shannon(first, second):
    p, q = first.softmax(-1), second.softmax(-1)
    middle = ((p + q) / 2).log()
    return (F.kl_div(middle, p, reduction="batchmean") + F.kl_div(middle, q, reduction="batchmean")) / 2
