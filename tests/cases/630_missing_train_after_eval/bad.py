import argparse

import torch
from accelerate import Accelerator
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup, set_seed


def main(train_loader, eval_loader, metric):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    set_seed(42)
    accelerator = Accelerator()
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    schedule = get_linear_schedule_with_warmup(optimizer, 0, args.epochs * len(train_loader))
    model, optimizer, train_loader, eval_loader = accelerator.prepare(model, optimizer, train_loader, eval_loader)
    model.train()
    for epoch in range(args.epochs):
        for batch in train_loader:
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        model.eval()  # EXPECT: missing_train_after_eval
        for batch in eval_loader:
            with torch.no_grad():
                logits = model(**batch).logits
            predictions, labels = accelerator.gather_for_metrics((logits.argmax(-1), batch["labels"]))
            metric.add_batch(predictions=predictions, references=labels)
        accelerator.print(epoch, metric.compute())
    accelerator.unwrap_model(model).save_pretrained("out")
