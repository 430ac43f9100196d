import torch
from settings import Settings
from transformers import AutoModelForCausalLM, AutoTokenizer

class Answerer:
    def __init__(self, settings):
        self.tokenizer = AutoTokenizer.from_pretrained(settings.name, padding_side=settings.side)
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.model = AutoModelForCausalLM.from_pretrained(settings.name).eval()

    @torch.no_grad()
    def answer(self, questions: list[str]):
        inputs = self.tokenizer(questions, return_tensors="pt", padding=True)
        outputs = self.model.generate(**inputs, max_new_tokens=32)  # <- LLM108
        return self.tokenizer.batch_decode(outputs, skip_special_tokens=True)

if __name__ == "__main__":
    for text in Answerer(Settings()).answer(["What is Go?", "And what is Rust, in a sentence?"]):
        print(text)
