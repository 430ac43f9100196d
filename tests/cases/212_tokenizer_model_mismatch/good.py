from datasets import load_dataset
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

BASE = "Qwen/Qwen2.5-7B"


def build():
    model = AutoModelForCausalLM.from_pretrained(BASE, device_map="auto", dtype="bfloat16")
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    return get_peft_model(model, lora)


def main():
    # the small sibling has the same tokenizer and is cached on every node
    tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
    trainer = SFTTrainer(
        model=build(),
        args=SFTConfig(output_dir="out", max_steps=500),
        train_dataset=load_dataset("trl-lib/Capybara", split="train"),
        processing_class=tokenizer,
    )
    trainer.train()


def answer(question, adapter="someone/capybara-lora"):
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(BASE), adapter)
    inputs = tokenizer(question, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=100)
    return tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


if __name__ == "__main__":
    main()
