from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

KINDS = {"causal": (AutoModelForCausalLM, "gpt2"), "seq2seq": (AutoModelForSeq2SeqLM, "t5-small")}

def load(kind):
    cls, name = KINDS[kind]
    return AutoTokenizer.from_pretrained(name), cls.from_pretrained(name)
