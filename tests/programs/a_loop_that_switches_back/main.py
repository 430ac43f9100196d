import torch
from loops import evaluate, train_epoch
from transformers import AutoModelForMaskedLM


def main(epochs=10):
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_pretrained("bert-base-cased").cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    train, dev = (torch.load(f"{name}.pt", weights_only=True) for name in ("train", "dev"))
    for epoch in range(epochs):
        train_epoch(model, train, optimizer)
        print(epoch, evaluate(model, dev))


if __name__ == "__main__":
    main()
