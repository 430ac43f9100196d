from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

CHECKPOINT = "FacebookAI/roberta-base"
MAX_LENGTH = 514

tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)


def preprocess(examples):
    return tokenizer(examples["text"], truncation=True, max_length=MAX_LENGTH)


def main():
    data = load_dataset("imdb").map(preprocess, batched=True)
    model = AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=2)
    trainer = Trainer(
        model=model,
        args=TrainingArguments(output_dir="out", num_train_epochs=1),
        train_dataset=data["train"],
        eval_dataset=data["test"],
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    trainer.train()


if __name__ == "__main__":
    main()
