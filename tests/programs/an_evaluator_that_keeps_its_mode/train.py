import torch
from evaluation import Evaluator
from transformers import AutoModelForSequenceClassification

def main(epochs=3):
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    batches = torch.load("train.pt", weights_only=True)
    evaluator = Evaluator(model, torch.load("dev.pt", weights_only=True))
    model.train()
    for epoch in range(epochs):
        for batch in batches:
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(epoch, evaluator.run())  # <- LLM405

if __name__ == "__main__":
    main()
