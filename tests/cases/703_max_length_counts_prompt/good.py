import argparse

import torch
from transformers import AutoTokenizer, GPTNeoForCausalLM

EXAMPLES = open("examples.txt", encoding="utf-8").read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("captions")
    parser.add_argument("--length", type=int, default=300)
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("EleutherAI/gpt-neo-1.3B")
    model = GPTNeoForCausalLM.from_pretrained("EleutherAI/gpt-neo-1.3B").eval()
    with open(args.captions, encoding="utf-8") as captions, torch.no_grad():
        for caption in captions:
            ids = tokenizer.encode(EXAMPLES + caption, return_tensors="pt")
            output = model.generate(
                ids,
                do_sample=False,
                max_length=ids.shape[1] + args.length,
                pad_token_id=tokenizer.eos_token_id,
            )
            print(tokenizer.decode(output[0, ids.shape[1] :]))


if __name__ == "__main__":
    main()
