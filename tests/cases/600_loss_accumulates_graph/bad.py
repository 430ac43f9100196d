import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, set_seed


def main(args, train_dataloader, eval_dataloader):
    set_seed(args.seed)
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    model = AutoModelForCausalLM.from_pretrained(args.model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    model, optimizer, train_dataloader = accelerator.prepare(model, optimizer, train_dataloader)
    for epoch in range(args.epochs):
        model.train()
        if args.with_tracking:
            total_loss = 0
        for batch in train_dataloader:
            with accelerator.accumulate(model):
                loss = model(**batch).loss
                if args.with_tracking:
                    total_loss += loss
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        if args.with_tracking:
            accelerator.log({"loss": total_loss.item() / len(train_dataloader)}, step=epoch)
