import json
import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "OpenAssistant/reward-model-deberta-v3-large-v2"
LIMIT = 512


def load(device):
    return AutoTokenizer.from_pretrained(NAME), AutoModelForSequenceClassification.from_pretrained(NAME).to(device)


@torch.inference_mode()
def rewards(pairs, tokenizer, model):
    questions, answers = zip(*pairs)
    whole = tokenizer(list(questions), list(answers))
    assert max(map(len, whole["input_ids"])) <= LIMIT, "an answer is longer than the reward model reads"
    inputs = tokenizer(
        list(questions), list(answers), padding=True, truncation="longest_first", max_length=LIMIT, return_tensors="pt"
    )
    return model(**inputs.to(model.device)).logits.squeeze(-1).tolist()


if __name__ == "__main__":
    tokenizer, model = load("cuda" if torch.cuda.is_available() else "cpu")
    rows = [json.loads(line) for line in sys.stdin]
    print(rewards([(row["prompt"], row["answer"]) for row in rows], tokenizer, model))
