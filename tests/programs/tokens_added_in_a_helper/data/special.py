ROLES = ["<user>", "<assistant>"]

def extend(tokenizer):
    tokenizer.add_special_tokens({"additional_special_tokens": ROLES})  # <- LLM104
    return tokenizer
