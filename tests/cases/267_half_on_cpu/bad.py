import os
from dataclasses import dataclass, field

import torch
from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoTokenizer


@dataclass
class Settings:
    model: str = "HuggingFaceTB/SmolLM2-135M-Instruct"
    device: str = field(default_factory=lambda: os.environ.get("DEVICE", "cpu"))
    dtype: torch.dtype = torch.float16


settings = Settings()
app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained(settings.model)
model = AutoModelForCausalLM.from_pretrained(settings.model, dtype=settings.dtype)  # EXPECT: half_on_cpu
model.to(settings.device)


@app.get("/complete")
def complete(prompt: str, tokens: int = 64):
    inputs = tokenizer(prompt, return_tensors="pt").to(settings.device)
    output = model.generate(**inputs, max_new_tokens=tokens)
    return tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
