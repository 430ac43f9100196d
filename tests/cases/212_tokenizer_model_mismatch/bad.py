from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

BASE = "Qwen/Qwen2.5-7B"


def build():
    model = AutoModelForCausalLM.from_pretrained(BASE, device_map="auto", dtype="bfloat16")
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    return get_peft_model(model, lora)


def main():
    tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-2-7b-hf")  # EXPECT: tokenizer_model_mismatch
    tokenizer.pad_token = tokenizer.unk_token
    trainer = SFTTrainer(
        model=build(),
        args=SFTConfig(output_dir="out", max_steps=500),
        train_dataset=load_dataset("trl-lib/Capybara", split="train"),
        processing_class=tokenizer,
    )
    trainer.train()


if __name__ == "__main__":
    main()
