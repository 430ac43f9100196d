import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

CHECKPOINT = "facebook/bart-large-cnn"


class Summaries:
    def __init__(self, device="cpu"):
        self.tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(CHECKPOINT).to(device)
        self.device = device

    @torch.inference_mode()
    def draft(self, article):
        encoded = self.tokenizer(article, truncation=True, max_length=1024, return_overflowing_tokens=False, return_tensors="pt")
        if encoded["input_ids"].shape[1] == 1024:
            print("the article was cut")
        encoded = {name: tensor.to(self.device) for name, tensor in encoded.items()}
        ids = self.model.generate(
            **encoded,
            max_new_tokens=120,
            num_beams=1,
            temperature=1.3,  # EXPECT
        )
        return self.tokenizer.decode(ids[0], skip_special_tokens=True)

    def drafts(self, article, count):
        return {self.draft(article) for _ in range(count)}
