from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)


def run(checkpoint):
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)

    def model_init():
        return AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)

    def preprocess(batch):
        return tokenizer(batch["sentence"], truncation=True, max_length=128)

    data = load_dataset("glue", "sst2").map(preprocess, batched=True)
    trainer = Trainer(
        model_init=model_init,
        args=TrainingArguments("sst2", seed=3, eval_strategy="epoch"),
        train_dataset=data["train"],
        eval_dataset=data["validation"],
        processing_class=tokenizer,
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    trainer.hyperparameter_search(n_trials=4)


for name in ["microsoft/deberta-base", "microsoft/deberta-v3-small", "bert-base-uncased"]:
    run(name)
