import config
from transformers import AutoTokenizer


def build_tokenizer():
    return AutoTokenizer.from_pretrained(config.TOKENIZER)
