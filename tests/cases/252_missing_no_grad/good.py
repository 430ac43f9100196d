import torch
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from corpus import encoded


class ShowFilled(TrainerCallback):
    def __init__(self, tokenizer, sentence):
        self.tokenizer = tokenizer
        self.inputs = tokenizer(sentence, return_tensors="pt")

    @torch.no_grad()
    def on_evaluate(self, args, state, control, model=None, **kwargs):
        model.eval()
        logits = model(**self.inputs.to(model.device)).logits
        print(state.global_step, self.tokenizer.decode(logits.argmax(-1)[0]))


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        weights = inputs.pop("weights", None)
        outputs = model(**inputs)
        loss = outputs.loss if weights is None else (outputs.loss * weights).mean()
        return (loss, outputs) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs.pop("weights", None)
        outputs = model(**self._prepare_inputs(inputs))
        return outputs.loss, None, None


def main():
    tokenizer = AutoTokenizer.from_pretrained("distilroberta-base")
    model = AutoModelForMaskedLM.from_pretrained("distilroberta-base")
    trainer = WeightedTrainer(
        model=model,
        args=TrainingArguments("out", eval_strategy="steps", eval_steps=500),
        train_dataset=encoded("train"),
        eval_dataset=encoded("valid"),
        data_collator=DataCollatorForLanguageModeling(tokenizer),
        callbacks=[ShowFilled(tokenizer, "The <mask> barked all night.")],
    )
    trainer.train()


if __name__ == "__main__":
    main()
