import json
import sys

from inference import complete
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(name="gpt2"):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    return AutoModelForCausalLM.from_pretrained(name), tokenizer


def main():
    model, tokenizer = load()
    prompts = [json.loads(line)["prompt"] for line in sys.stdin]
    for text in complete(model, tokenizer, prompts):  # <- LLM206
        print(json.dumps({"completion": text}))


if __name__ == "__main__":
    main()
