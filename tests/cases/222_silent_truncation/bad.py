from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")


def preprocess(examples):
    return tokenizer(examples["ticket"], truncation=True, max_length=256)  # EXPECT: silent_truncation


def main():
    tickets = load_dataset("csv", data_files={"train": "tickets.csv"})["train"].train_test_split(0.1, seed=1)
    tickets = tickets.map(preprocess, batched=True)
    model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=12)
    trainer = Trainer(
        model=model,
        args=TrainingArguments(output_dir="tickets", num_train_epochs=3),
        train_dataset=tickets["train"],
        eval_dataset=tickets["test"],
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    trainer.train()


if __name__ == "__main__":
    main()
