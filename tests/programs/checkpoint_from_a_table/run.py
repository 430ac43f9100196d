from registry import MODELS
from transformers import AutoModelForCausalLM, AutoTokenizer

def summarize(kind, text):
    name = MODELS[kind]
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)  # <- LLM210
    ids = model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=60)
    return tokenizer.decode(ids[0], skip_special_tokens=True)

print(summarize("small", "summarize: " + open("text.txt").read()[:500]))
