import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def pick_device():
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def main():
    device = pick_device()
    tokenizer = AutoTokenizer.from_pretrained("microsoft/phi-2")
    model = AutoModelForCausalLM.from_pretrained("microsoft/phi-2").to(device=device, dtype=torch.half)  # EXPECT: half_on_cpu
    inputs = tokenizer("def fibonacci(n):", return_tensors="pt").to(device)
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=80)[0]))


if __name__ == "__main__":
    main()
