import torch
from loading import load

def main():
    tokenizer, model = load("gpt2")
    inputs = tokenizer(["What is Go?", "And what is Rust, in one sentence?"], return_tensors="pt", padding=True)
    with torch.no_grad():
        outputs = model.generate(**inputs, max_new_tokens=32)
    print(tokenizer.batch_decode(outputs))

main()
