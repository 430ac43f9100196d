from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

CHECKPOINT = "mistralai/Mistral-7B-v0.1"
LIMIT = 512


def load():
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    if not tokenizer.pad_token:
        tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(CHECKPOINT, device_map="auto")
    return tokenizer, get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"]))


def main(rows):
    tokenizer, model = load()

    def encode(row):
        ids = tokenizer(f"### Task\n{row['task']}\n### Answer\n{row['answer']}", truncation=True, max_length=LIMIT)
        if len(ids["input_ids"]) < LIMIT:
            ids["input_ids"].append(tokenizer.eos_token_id)
            ids["attention_mask"].append(1)
        return ids

    trainer = Trainer(
        model=model,
        args=TrainingArguments(output_dir="lora", num_train_epochs=2),
        train_dataset=rows.map(encode),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),  # EXPECT: pad_is_eos_masks_eos
    )
    trainer.train()
