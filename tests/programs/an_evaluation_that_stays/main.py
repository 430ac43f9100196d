import torch
from lib import perplexity
from transformers import AutoModelForCausalLM, get_linear_schedule_with_warmup


def main():
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained("distilgpt2").cuda()
    model.train()
    train, dev = torch.load("train.pt", weights_only=True), torch.load("dev.pt", weights_only=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    schedule = get_linear_schedule_with_warmup(optimizer, 10, 5 * len(train))
    for epoch in range(5):
        for batch in train:
            model(**batch).loss.backward()
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        print(epoch, perplexity(model, dev))  # <- LLM405


if __name__ == "__main__":
    main()
