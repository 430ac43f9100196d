from dataclasses import dataclass, field

from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    HfArgumentParser,
    Trainer,
    TrainingArguments,
)


@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="roberta-base", metadata={"help": "checkpoint to start from"})
    num_labels: int = field(default=2)


def main():
    parser = HfArgumentParser((ModelArguments, TrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()

    raw = load_dataset("imdb")
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")  # EXPECT: tokenizer_model_mismatch
    model = AutoModelForSequenceClassification.from_pretrained(
        model_args.model_name_or_path, num_labels=model_args.num_labels
    )

    def preprocess(examples):
        return tokenizer(examples["text"])

    encoded = raw.map(preprocess, batched=True, remove_columns=["text"])
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=encoded["train"],
        eval_dataset=encoded["test"],
        processing_class=tokenizer,
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
