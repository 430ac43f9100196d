from transformers import AutoModelForCausalLM, AutoTokenizer

def load_model(name):
    return AutoModelForCausalLM.from_pretrained(name)

def load_tokenizer(name):
    return AutoTokenizer.from_pretrained(name)
