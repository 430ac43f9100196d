import argparse

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--checkpoint", default="roberta-large-mnli")
    parser.add_argument("premise")
    parser.add_argument("hypothesis")
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.checkpoint)
    model = AutoModelForSequenceClassification.from_pretrained(args.checkpoint)
    model = model.half().to(args.device)  # EXPECT: half_on_cpu
    model.eval()
    with torch.inference_mode():
        encoded = tokenizer(args.premise, args.hypothesis, return_tensors="pt").to(args.device)
        print(model(**encoded).logits.float().softmax(-1).tolist())


if __name__ == "__main__":
    main()
