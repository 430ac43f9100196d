from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

BASE = "NousResearch/Llama-2-7b-hf"


def main():
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    new_tokens = ["<|im_start|>", "<|im_end|>"]
    tokenizer.add_tokens(new_tokens, special_tokens=True)
    tokenizer.pad_token = tokenizer.unk_token
    model = AutoModelForCausalLM.from_pretrained(BASE, device_map="auto")
    model = get_peft_model(model, LoraConfig(r=16, task_type="CAUSAL_LM"))
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(output_dir="chat", max_length=2048),
        train_dataset=load_dataset("json", data_files="chat.jsonl", split="train"),
        processing_class=tokenizer,
    )
    trainer.train()


if __name__ == "__main__":
    main()
