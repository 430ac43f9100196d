import argparse
import json

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


class RewardScorer:
    def __init__(self, path, device):
        self.tokenizer = AutoTokenizer.from_pretrained(path)
        self.model = AutoModelForSequenceClassification.from_pretrained(path, num_labels=1, torch_dtype=torch.bfloat16)
        self.model.to(device).eval()
        self.device = device

    def score(self, prompts, answers, batch_size=8):
        texts = [prompt + answer for prompt, answer in zip(prompts, answers)]
        rewards = []
        for start in range(0, len(texts), batch_size):
            batch = self.tokenizer(texts[start : start + batch_size], padding=True, return_tensors="pt").to(self.device)
            rewards += self.model(**batch).logits.squeeze(-1).float().cpu().tolist()  # EXPECT: missing_no_grad
        return rewards


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    arguments = parser.parse_args()
    with open(arguments.data) as file:
        rows = [json.loads(line) for line in file]
    scorer = RewardScorer(arguments.model, "cuda")
    rewards = scorer.score([row["prompt"] for row in rows], [row["answer"] for row in rows])
    print(sum(rewards) / len(rewards))


if __name__ == "__main__":
    main()
