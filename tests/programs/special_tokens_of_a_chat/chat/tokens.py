from transformers import AutoTokenizer

ROLES = ["<|user|>", "<|assistant|>", "<|end|>"]


def chat_tokenizer(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_special_tokens({"additional_special_tokens": ROLES})  # <- LLM104
    tokenizer.pad_token = tokenizer.eos_token
    return tokenizer
