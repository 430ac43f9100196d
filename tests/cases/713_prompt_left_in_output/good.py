import argparse
import json

import torch
from transformers import AutoTokenizer, MistralForCausalLM, T5ForConditionalGeneration


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("questions")
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("mistralai/Mistral-7B-v0.1")
    model = MistralForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", device_map="auto")
    reader = AutoTokenizer.from_pretrained("google/flan-t5-base")
    flan = T5ForConditionalGeneration.from_pretrained("google/flan-t5-base", device_map="auto")
    right, same = 0, 0
    with open(args.questions, encoding="utf-8") as lines, torch.inference_mode():
        for line in lines:
            row = json.loads(line)
            inputs = tokenizer(row["question"], return_tensors="pt").to(model.device)
            output = model.generate(**inputs, max_new_tokens=1)
            letter = tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True).strip()
            right += letter == row["letter"]
            asked = reader(row["question"], return_tensors="pt").to(flan.device)
            same += reader.decode(flan.generate(**asked, max_new_tokens=2)[0], skip_special_tokens=True) == row["letter"]
    print(right, same)


if __name__ == "__main__":
    main()
