"""Average attention of each head from the last token, for a few prompts."""

import argparse

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(name, device):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16, attn_implementation="eager").to(device)
    model.eval()
    return tokenizer, model


def forward(model, inputs):
    with torch.no_grad():
        return model(**inputs, output_attentions=True, use_cache=False)


def heads(tokenizer, model, prompt):
    output = forward(model, tokenizer(prompt, return_tensors="pt").to(model.device))
    return torch.stack([layer[0, :, -1].mean(-1) for layer in output.attentions])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    tokenizer, model = load(args.model, args.device)
    for prompt in ("The capital of France is", "2 + 2 ="):
        print(heads(tokenizer, model, prompt))
