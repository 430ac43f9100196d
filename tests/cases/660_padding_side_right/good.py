import argparse
import json

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="EleutherAI/pythia-410m")
    parser.add_argument("--prompts", required=True)
    parser.add_argument("--batch-size", type=int, default=16)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(args.model).to("cuda").eval()
    with open(args.prompts, encoding="utf-8") as handle:
        prompts = [json.loads(line)["prompt"] for line in handle]
    for start in range(0, len(prompts), args.batch_size):
        batch = prompts[start : start + args.batch_size]
        inputs = tokenizer(batch, padding=True, return_tensors="pt").to("cuda")
        with torch.no_grad():
            outputs = model.generate(**inputs, max_new_tokens=64, do_sample=False)
        for text in tokenizer.batch_decode(outputs, skip_special_tokens=True):
            print(text)


def probe(prompt):
    tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-410m")
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-410m")
    inputs = tokenizer(prompt, padding=True, return_tensors="pt")
    return tokenizer.decode(model.generate(**inputs, max_new_tokens=8)[0])


if __name__ == "__main__":
    main()
