from datasets import load_dataset
from transformers import DataCollatorForLanguageModeling, TrainingArguments, set_seed
from tuning.factory import model_for, tokenizer_for
from tuning.weighted import WeightedTrainer


def main():
    set_seed(11)
    tokenizer = tokenizer_for("gpt2")
    tokenizer.pad_token = tokenizer.eos_token
    model = model_for("gpt2", tokenizer)
    data = load_dataset("json", data_files="sft.jsonl")["train"].map(lambda row: tokenizer(row["text"]))
    WeightedTrainer(
        model=model,
        args=TrainingArguments("out"),
        train_dataset=data,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        weight=0.5,
    ).train()


if __name__ == "__main__":
    main()
