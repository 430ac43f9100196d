from transformers import AutoModelForCausalLM, AutoTokenizer

def load(name):
    tokenizer = AutoTokenizer.from_pretrained(name, padding_side="right")
    model = AutoModelForCausalLM.from_pretrained(name)
    prepare(tokenizer)
    return tokenizer, model

def prepare(tokenizer):
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
