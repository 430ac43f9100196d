import evaluate
import torch
from accelerate import Accelerator
from transformers import set_seed

from experiment import build_model, build_loaders


def validate(accelerator, model, loader):
    metric = evaluate.load("accuracy")
    model.eval()
    for batch in loader:
        outputs = model(**batch)  # EXPECT: missing_no_grad
        predictions, labels = accelerator.gather_for_metrics((outputs.logits.argmax(dim=-1), batch["labels"]))
        metric.add_batch(predictions=predictions, references=labels)
    return metric.compute()


def main(settings):
    set_seed(settings.seed)
    if settings.tracking:
        accelerator = Accelerator(log_with="wandb")
    else:
        accelerator = Accelerator()
    model = build_model(settings)
    training, validation = build_loaders(settings)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate)
    model, optimizer, training, validation = accelerator.prepare(model, optimizer, training, validation)
    for epoch in range(settings.epochs):
        model.train()
        for batch in training:
            with accelerator.accumulate(model):
                accelerator.backward(model(**batch).loss)
                optimizer.step()
                optimizer.zero_grad()
        accelerator.print(epoch, validate(accelerator, model, validation))
