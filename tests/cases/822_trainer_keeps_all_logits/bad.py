from functools import partial

import evaluate
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
    set_seed,
)

NAME = "EleutherAI/pythia-410m"
measure = evaluate.load("accuracy")


def next_tokens(predicted, ignored):
    predictions = predicted.predictions
    if isinstance(predictions, tuple):
        predictions = predictions[0]
    best = predictions.argmax(axis=-1)[:, :-1].reshape(-1)
    labels = predicted.label_ids[:, 1:].reshape(-1)
    kept = labels != ignored
    return measure.compute(predictions=best[kept], references=labels[kept])


def main():
    set_seed(3)
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    tokenizer.pad_token = "<|padding|>"
    rows = load_dataset("Salesforce/wikitext", "wikitext-2-raw-v1").filter(lambda row: len(row["text"]) > 0)
    rows = rows.map(lambda row: tokenizer(row["text"], truncation=True, max_length=1024), batched=True)
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(NAME),
        args=TrainingArguments("pythia", eval_strategy="steps", eval_steps=200, per_device_eval_batch_size=8),
        train_dataset=rows["train"],
        eval_dataset=rows["validation"],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        compute_metrics=partial(next_tokens, ignored=-100),  # EXPECT: trainer_keeps_all_logits
    )
    trainer.train()


if __name__ == "__main__":
    main()
