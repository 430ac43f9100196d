import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Judge:
    def __init__(self, checkpoint="Qwen/Qwen2.5-7B-Instruct"):
        self.model = AutoModelForCausalLM.from_pretrained(checkpoint, device_map="auto")
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")

    def rows(self, pairs):
        return [
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": one}, {"role": "assistant", "content": other}], tokenize=False
            )
            for one, other in pairs
        ]

    @torch.inference_mode()
    def verdict(self, text):
        prompt = self.tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False)
        prompt += "<|im_start|>assistant\nVerdict:"
        batch = self.tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
        output = self.model.generate(**batch.to(self.model.device), max_new_tokens=8, do_sample=False)
        return self.tokenizer.decode(output[0, batch["input_ids"].shape[1] :], skip_special_tokens=True)
