from datasets import load_dataset
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google/gemma-2-9b-it")
plain = AutoTokenizer.from_pretrained("google/gemma-2-9b-it", add_bos_token=False)


def encode(example):
    ids = tokenizer.apply_chat_template(example["messages"], add_generation_prompt=False, return_dict=False)
    if len(ids) > 2048:
        print("cut:", example["id"])
    return {"input_ids": ids[:2048], "labels": ids[:2048]}


def size(example):
    rendered = plain.apply_chat_template(example["messages"], tokenize=False, add_generation_prompt=False)
    return {"size": len(plain(rendered)["input_ids"])}


if __name__ == "__main__":
    load_dataset("json", data_files="chats.json", split="train").map(encode).map(size).save_to_disk("encoded")
