from transformers import AutoTokenizer


def build_tokenizer(name, for_generation=False):
    tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if for_generation:
        tokenizer.padding_side = "left"
    return tokenizer
