from transformers import AutoModelForCausalLM, AutoTokenizer

EXTRA = ["<|im_start|>", "<|im_end|>"]


def tokenizer_for(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_tokens(EXTRA, special_tokens=True)
    return tokenizer


def model_for(name, tokenizer):
    model = AutoModelForCausalLM.from_pretrained(name)
    if len(tokenizer) > model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(len(tokenizer))
    return model
