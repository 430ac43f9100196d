import numpy as np
from transformers import BertForMaskedLM, BertForTokenClassification, Trainer, TrainingArguments


class Domain:
    """Goes on with pretraining on reports, then learns to tag them."""

    def __init__(self, folder):
        self.arguments = TrainingArguments(folder, eval_strategy="epoch", per_device_eval_batch_size=32, seed=9)

    @staticmethod
    def share(predicted):
        scores, labels = predicted
        best = np.argmax(scores, axis=2)
        return {"share": float((best == labels)[labels != -100].mean())}

    def pretrain(self, training, validation, collate):
        model = BertForMaskedLM.from_pretrained("bert-base-cased")
        trainer = Trainer(
            model,
            self.arguments,
            data_collator=collate,
            train_dataset=training,
            eval_dataset=validation,
            compute_metrics=self.share,  # EXPECT: trainer_keeps_all_logits
        )
        trainer.train()
        return trainer.evaluate()
