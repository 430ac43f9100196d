import torch.nn.functional as F
from transformers import Seq2SeqTrainer


class SmoothedTrainer(Seq2SeqTrainer):
    def __init__(self, *args, smoothing: float = 0.1, **kwargs):
        super().__init__(*args, **kwargs)
        self.smoothing = smoothing

    def compute_loss(self, model, inputs, return_outputs: bool = False, num_items_in_batch=None):
        outputs = model(**inputs)
        logits = outputs.logits.view(-1, outputs.logits.size(-1))
        loss = F.cross_entropy(logits, inputs["labels"].view(-1), ignore_index=-100, label_smoothing=self.smoothing)
        return (loss, outputs) if return_outputs else loss


class StepTrainer(Seq2SeqTrainer):
    def training_step(self, model, inputs, *args):
        model.train()
        loss = self.compute_loss(model, self._prepare_inputs(inputs))
        self.accelerator.backward(loss)
        return loss.detach()

    def compute_loss(self, model, inputs):
        return model(**inputs).loss
