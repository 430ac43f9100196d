from transformers import Trainer


class WeightedTrainer(Trainer):
    def __init__(self, *args, weight=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight = weight

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        loss = self.weight * outputs.loss
        return (loss, outputs) if return_outputs else loss
