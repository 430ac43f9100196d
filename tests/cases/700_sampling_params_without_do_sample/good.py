import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, set_seed

CHECKPOINT = "facebook/bart-large-cnn"


class Summaries:
    def __init__(self, device="cpu"):
        set_seed(0)
        self.tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(CHECKPOINT).to(device)
        self.writer = AutoModelForCausalLM.from_pretrained("openai-community/gpt2").to(device)
        self.settings = {"do_sample": True, "temperature": 1.3, "top_k": 40}
        self.device = device

    @torch.inference_mode()
    def draft(self, article):
        encoded = self.tokenizer(article, return_tensors="pt")
        if encoded["input_ids"].shape[1] > 1024:
            raise ValueError("too long")
        encoded = {name: tensor.to(self.device) for name, tensor in encoded.items()}
        ids = self.model.generate(**encoded, max_new_tokens=120, **self.settings)
        return self.tokenizer.decode(ids[0], skip_special_tokens=True)

    @torch.inference_mode()
    def contrast(self, ids):
        return self.writer.generate(ids, max_new_tokens=20, penalty_alpha=0.6, top_k=4)
