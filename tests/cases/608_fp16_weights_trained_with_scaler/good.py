import bitsandbytes as bnb
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


class Finetuner:
    def __init__(self, name):
        base = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.float16).to("cuda")
        self.model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM"))
        self.optimizer = bnb.optim.AdamW8bit(self.model.parameters(), lr=1e-5)
        self.scaler = torch.amp.GradScaler("cuda")

    def train(self, loader):
        self.model.train()
        for batch in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = self.model(**batch).loss
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
