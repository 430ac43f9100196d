import random

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, set_seed

NAME = "google-bert/bert-base-uncased"


def pick(dataset, per_label=16):
    chosen = []
    for label in (0, 1):
        pool = [i for i, y in enumerate(dataset["label"]) if y == label]
        chosen += random.sample(pool, per_label)
    return dataset.select(chosen)


def main():
    set_seed(42)
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME, num_labels=2)
    train = pick(load_dataset("stanfordnlp/sst2", split="train"))
    train = train.map(lambda row: tokenizer(row["sentence"]), batched=True)
    args = TrainingArguments(output_dir="fewshot", num_train_epochs=10)
    Trainer(model=model, args=args, train_dataset=train, processing_class=tokenizer).train()


if __name__ == "__main__":
    main()
