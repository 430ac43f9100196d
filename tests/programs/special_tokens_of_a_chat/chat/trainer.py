from transformers import Trainer


class ChatTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        loss = outputs.loss
        self.log({"chat_loss": loss.item()})
        return (loss, outputs) if return_outputs else loss
