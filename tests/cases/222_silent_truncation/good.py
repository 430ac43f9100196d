import logging

from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

logger = logging.getLogger(__name__)
tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
MAX_LENGTH = 256


def preprocess(examples):
    return tokenizer(examples["ticket"])


def main():
    tickets = load_dataset("csv", data_files={"train": "tickets.csv"})["train"].train_test_split(0.1, seed=1)
    tickets = tickets.map(preprocess, batched=True)
    before = tickets["train"].num_rows
    tickets = tickets.filter(lambda row: len(row["input_ids"]) <= MAX_LENGTH)
    logger.warning("%d tickets are too long and left out", before - tickets["train"].num_rows)
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
