import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

CHECKPOINT = "facebook/opt-350m"


def load():
    return AutoModelForCausalLM.from_pretrained(
        CHECKPOINT,
        torch_dtype=torch.float16,
        low_cpu_mem_usage=True,
    )


def build(dataset):
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    arguments = TrainingArguments(output_dir="out", per_device_train_batch_size=4, fp16=True)
    return Trainer(
        model=load(),
        args=arguments,
        train_dataset=dataset,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )


def main(dataset):
    trainer = build(dataset)
    trainer.train()
    trainer.save_model()
