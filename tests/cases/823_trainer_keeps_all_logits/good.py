import numpy as np
from transformers import BertForMaskedLM, BertForTokenClassification, Trainer, TrainingArguments


class Domain:
    """Goes on with pretraining on reports, then learns to tag them."""

    def __init__(self, folder):
        self.arguments = TrainingArguments(folder, eval_strategy="epoch", per_device_eval_batch_size=32, seed=9)

    @staticmethod
    def share(predicted):
        best, labels = predicted
        return {"share": float((best == labels)[labels != -100].mean())}

    def pretrain(self, training, validation, collate):
        model = BertForMaskedLM.from_pretrained("bert-base-cased")
        trainer = Trainer(
            model,
            self.arguments,
            data_collator=collate,
            train_dataset=training,
            eval_dataset=validation,
            compute_metrics=self.share,
            preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
        )
        trainer.train()
        return trainer.evaluate()

    def tag(self, training, validation, collate):
        """Nine tags for a token are no vocabulary."""

        def tags(predicted):
            scores, labels = predicted
            return {"share": float((np.argmax(scores, axis=2) == labels)[labels != -100].mean())}

        model = BertForTokenClassification.from_pretrained("bert-base-cased", num_labels=9)
        trainer = Trainer(
            model,
            self.arguments,
            data_collator=collate,
            train_dataset=training,
            eval_dataset=validation,
            compute_metrics=tags,
        )
        trainer.train()
