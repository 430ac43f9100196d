from datasets import load_dataset
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google/gemma-2-9b-it")


def encode(example):
    rendered = tokenizer.apply_chat_template(example["messages"], tokenize=False, add_generation_prompt=False)
    tokens = tokenizer(  # EXPECT: double_bos
        rendered,
        max_length=2048,
        return_attention_mask=False,
    )
    tokens["labels"] = list(tokens["input_ids"])
    if len(tokens["input_ids"]) == 2048:
        print("cut:", example["id"])
    return tokens


if __name__ == "__main__":
    load_dataset("json", data_files="chats.json", split="train").map(encode).save_to_disk("encoded")
