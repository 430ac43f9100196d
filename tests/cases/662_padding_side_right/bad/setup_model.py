from transformers import AutoModelForCausalLM, AutoTokenizer


def load(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"  # as the trainer wants it
    model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
    return model, tokenizer
