import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

REWARD = "OpenAssistant/reward-model-deberta-v3-large-v2"


class BestOfN:
    def __init__(self, n=4):
        self.n = n
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")  # EXPECT: tokenizer_model_mismatch
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.policy = AutoModelForCausalLM.from_pretrained("gpt2")
        self.reward = AutoModelForSequenceClassification.from_pretrained(REWARD)

    @torch.inference_mode()
    def score(self, question, answers):
        inputs = self.tokenizer(
            [question] * len(answers), answers, padding=True, return_tensors="pt"
        )
        return self.reward(**inputs).logits[:, 0]

    def __call__(self, question):
        prompt = self.tokenizer(question, return_tensors="pt")
        samples = self.policy.generate(
            **prompt, num_beams=self.n, num_return_sequences=self.n, max_new_tokens=60
        )
        start = prompt["input_ids"].shape[1]
        answers = self.tokenizer.batch_decode(samples[:, start:], skip_special_tokens=True)
        return answers[int(self.score(question, answers).argmax())]


if __name__ == "__main__":
    print(BestOfN()("Why is the sky blue?"))
