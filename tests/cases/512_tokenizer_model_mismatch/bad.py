from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

CHECKPOINT = "microsoft/deberta-v3-small"


def model_init():
    return AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=2)


tokenizer = AutoTokenizer.from_pretrained("microsoft/deberta-base")  # EXPECT: tokenizer_model_mismatch


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
