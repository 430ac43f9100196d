import torch.nn.functional as F
from transformers import Seq2SeqTrainer


class SmoothedTrainer(Seq2SeqTrainer):
    def __init__(self, *args, smoothing: float = 0.1, **kwargs):
        super().__init__(*args, **kwargs)
        self.smoothing = smoothing

    def compute_loss(self, model, inputs, return_outputs: bool = False):  # EXPECT: compute_loss_signature
        outputs = model(**inputs)
        logits = outputs.logits.view(-1, outputs.logits.size(-1))
        loss = F.cross_entropy(logits, inputs["labels"].view(-1), ignore_index=-100, label_smoothing=self.smoothing)
        return (loss, outputs) if return_outputs else loss
