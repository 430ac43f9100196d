from transformers import AutoModelForCausalLM, AutoTokenizer

class Bundle:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)

    def add_roles(self, roles):
        added = self.tokenizer.add_special_tokens({"additional_special_tokens": roles})
        if added:
            self.model.resize_token_embeddings(len(self.tokenizer))
