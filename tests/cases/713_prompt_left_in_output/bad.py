import argparse
import json

import torch
from transformers import AutoTokenizer, MistralForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("questions")
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("mistralai/Mistral-7B-v0.1")
    model = MistralForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", device_map="auto")
    right, seen = 0, 0
    with open(args.questions, encoding="utf-8") as lines, torch.inference_mode():
        for line in lines:
            row = json.loads(line)
            inputs = tokenizer(row["question"], return_tensors="pt").to(model.device)
            output = model.generate(**inputs, max_new_tokens=1)
            letter = tokenizer.decode(output[0], skip_special_tokens=True).strip()  # EXPECT
            right += letter == row["letter"]
            seen += 1
    print(right / seen)


if __name__ == "__main__":
    main()
