import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Backend:
    def __init__(self, checkpoint="EleutherAI/gpt-j-6b"):
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.tokenizer.padding_side = "left"
        self.model = AutoModelForCausalLM.from_pretrained(checkpoint, device_map="auto")

    def batch(self, prompts):
        return self.tokenizer(prompts, padding="longest", return_tensors="pt").to(self.model.device)

    @torch.inference_mode()
    def answers(self, prompts):
        batch = self.batch(prompts)
        output = self.model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=64)
        return self.tokenizer.batch_decode(output[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)

    @torch.inference_mode()
    def answer(self, prompt):
        ids = self.tokenizer([prompt], padding=True, return_tensors="pt").input_ids.to(self.model.device)
        return self.tokenizer.decode(self.model.generate(ids, max_new_tokens=64)[0, ids.shape[1] :])
