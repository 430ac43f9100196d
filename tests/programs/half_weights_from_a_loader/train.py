import torch
from engine.steps import train_epoch
from models import load_model


def main():
    torch.manual_seed(7)
    model = load_model("gpt2", "cuda")  # <- LLM302
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    batches = torch.load("batches.pt", weights_only=True)
    for _ in range(3):
        train_epoch(model, batches, optimizer)
    model.save_pretrained("out")


if __name__ == "__main__":
    main()
