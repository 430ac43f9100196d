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
        soft = divergence(  # EXPECT: kl_div_arguments
            F.softmax(outputs.logits / self.temperature, dim=-1),
            F.softmax(teacher_logits / self.temperature, dim=-1),
        )
        loss = self.alpha * outputs.loss + (1 - self.alpha) * self.temperature**2 * soft
        return (loss, outputs) if return_outputs else loss
