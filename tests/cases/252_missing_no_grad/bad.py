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

    def on_evaluate(self, args, state, control, model=None, **kwargs):
        model.eval()
        logits = model(**self.inputs.to(model.device)).logits  # EXPECT: missing_no_grad
        print(state.global_step, self.tokenizer.decode(logits.argmax(-1)[0]))


def main():
    tokenizer = AutoTokenizer.from_pretrained("distilroberta-base")
    model = AutoModelForMaskedLM.from_pretrained("distilroberta-base")
    trainer = Trainer(
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
