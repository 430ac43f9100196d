import torch
from datasets import load_dataset
from transformers import GPT2LMHeadModel, GPT2TokenizerFast

CHECKPOINT = "gpt2-large"
STRIDE = 512

device = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT2LMHeadModel.from_pretrained(CHECKPOINT).to(device)
tokenizer = GPT2TokenizerFast.from_pretrained(CHECKPOINT)
test = load_dataset("wikitext", "wikitext-2-raw-v1", split="test")
encodings = tokenizer("\n\n".join(test["text"]), return_tensors="pt")

length = encodings.input_ids.size(1)
losses = []
previous = 0
for begin in range(0, length, STRIDE):
    end = min(begin + model.config.n_positions, length)
    ids = encodings.input_ids[:, begin:end].to(device)
    targets = ids.clone()
    targets[:, : previous - end] = -100
    losses.append(model(ids, labels=targets).loss)  # EXPECT: missing_no_grad
    previous = end
    if end == length:
        break
print(f"perplexity {torch.exp(torch.stack(losses).mean()).item():.2f}")
