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
    model.resize_token_embeddings(len(tokenizer))
    model = get_peft_model(model, LoraConfig(r=16, task_type="CAUSAL_LM", modules_to_save=["embed_tokens", "lm_head"]))
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(output_dir="chat", max_length=2048),
        train_dataset=load_dataset("json", data_files="chat.jsonl", split="train"),
        processing_class=tokenizer,
    )
    trainer.train()


def roomy(dataset):
    tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-1.5B")
    tokenizer.add_tokens(["<think_more>", "<stop_now>"], special_tokens=True)
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
    SFTTrainer(model=model, args=SFTConfig(output_dir="q"), train_dataset=dataset, processing_class=tokenizer).train()


if __name__ == "__main__":
    main()
