from datasets import load_dataset
from transformers import AutoTokenizer, DataCollatorForLanguageModeling
from trl import SFTConfig, SFTTrainer

tokenizer = AutoTokenizer.from_pretrained("HuggingFaceTB/SmolLM2-135M")
tokenizer.pad_token = "<|reserved_0|>"


def encode(row):
    return tokenizer(tokenizer.apply_chat_template(row["messages"], tokenize=False), add_special_tokens=False)


def for_inference():
    left = AutoTokenizer.from_pretrained("HuggingFaceTB/SmolLM2-135M", padding_side="left")
    left.pad_token = left.eos_token
    return left


if __name__ == "__main__":
    data = load_dataset("json", data_files="chats.jsonl", split="train").map(encode)
    SFTTrainer(
        "HuggingFaceTB/SmolLM2-135M",
        args=SFTConfig(output_dir="chat", seed=3),
        train_dataset=data,
        processing_class=tokenizer,
        data_collator=DataCollatorForLanguageModeling(tokenizer=tokenizer, mlm=False),
    ).train()
