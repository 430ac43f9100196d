import torch
import wandb
from transformers import AutoModelForCausalLM


def main():
    torch.manual_seed(5)
    wandb.login()
    wandb.init(project="tickets", id="6b1f0e2d9c8a7b5e4f3d2c1b0a9f8e7d6c5b4a39")
    model = AutoModelForCausalLM.from_pretrained("gpt2", revision="6b1f0e2d9c8a7b5e4f3d2c1b0a9f8e7d6c5b4a39")
    wandb.watch(model)


main()
