import contextlib

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, set_seed


def main(training, validation, device):
    set_seed(0)
    context = contextlib.nullcontext() if device == "cpu" else torch.autocast(device, dtype=torch.bfloat16)
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    for parameter in model.parameters():
        parameter.requires_grad = False
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for epoch in range(3):
        model.train()
        for batch in training:
            with context:
                loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        total = 0.0
        for batch in validation:
            with context:
                loss = model(**batch).loss  # EXPECT: missing_no_grad
            total += loss.item()
        print(epoch, total / len(validation))
