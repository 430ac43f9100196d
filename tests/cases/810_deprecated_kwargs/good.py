from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments


def make(tokenizer):
    return DataCollatorWithPadding(tokenizer=tokenizer)


def fit(train, dev, name="distilbert/distilbert-base-uncased"):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=4)
    trainer = Trainer(
        model=model,
        args=TrainingArguments("out", eval_strategy="epoch"),
        train_dataset=train,
        eval_dataset=dev,
        processing_class=tokenizer,
        data_collator=make(tokenizer=tokenizer),
    )
    trainer.train()
