from datasets import load_dataset
from transformers import AutoTokenizer

from project import config

tokenizer = AutoTokenizer.from_pretrained(config.TOKENIZER_NAME)  # <- LLM101


def encode(row):
    return tokenizer(row["text"])


def splits():
    return load_dataset("ag_news").map(encode, batched=True)
