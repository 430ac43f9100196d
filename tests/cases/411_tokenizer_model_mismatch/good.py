from types import SimpleNamespace

from transformers import AutoModelForCausalLM, AutoTokenizer

settings = SimpleNamespace(model="EleutherAI/pythia-410m", tokenizer="EleutherAI/gpt-neox-20b", tokens=64)
tokenizer = AutoTokenizer.from_pretrained(settings.tokenizer)
model = AutoModelForCausalLM.from_pretrained(settings.model)


def complete(prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=settings.tokens)
    return tokenizer.decode(output[0], skip_special_tokens=True)
