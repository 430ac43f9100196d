import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Judge:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map="auto").bfloat16()
        self.model.eval()
        self.yes = self.tokenizer.encode("yes", add_special_tokens=False)[0]

    def last(self, prompt):
        inputs = self.tokenizer(prompt, return_tensors="pt").to(self.model.device)
        return self.model(**inputs).logits[0, -1]

    @torch.inference_mode()
    def probability(self, prompt):
        probs = torch.softmax(self.last(prompt), dim=-1, dtype=torch.float32)
        wide = probs.cpu().numpy()[self.yes]
        return wide, self.last(prompt)[self.yes].item()
