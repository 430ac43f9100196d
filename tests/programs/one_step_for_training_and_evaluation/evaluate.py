import torch
from common.steps import loss_of
from transformers import AutoModelForSequenceClassification


@torch.no_grad()
def main():
    model = AutoModelForSequenceClassification.from_pretrained("out").eval()
    batches = torch.load("dev.pt", weights_only=True)
    print(sum(loss_of(model, batch).item() for batch in batches))


if __name__ == "__main__":
    main()
