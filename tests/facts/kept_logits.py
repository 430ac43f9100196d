"""Scores of a vocabulary that a trainer keeps for a function that only takes the best."""
import numpy as np
import torch
from things import settings, sets
from transformers import AutoModelForCausalLM, AutoModelForTokenClassification, Trainer, TrainingArguments


def best(predicted):
    logits, labels = predicted
    if isinstance(logits, tuple):
        print(len(logits))
    return {"share": (np.argmax(logits, -1) == labels).mean()}


def replaced(predicted):
    scores = predicted.predictions
    scores = scores.argmax(-1)
    return {"share": (scores == predicted.label_ids).mean(), "most": scores.max()}


def all_scores(predicted):
    logits, labels = predicted
    loss = torch.nn.functional.cross_entropy(torch.tensor(logits[:, 1]), torch.tensor(labels[:, 1]))
    return {"share": (logits.argmax(-1) == labels).mean(), "loss": loss.item()}


def ids(predicted):
    return {"share": (predicted.predictions == predicted.label_ids).mean()}


model = AutoModelForCausalLM.from_pretrained("gpt2")
plain = TrainingArguments("out")
Trainer(model, plain, eval_dataset=sets.dev, compute_metrics=best)  # fact: are of a vocabulary yes; are kept yes; only best are used yes
Trainer(model, plain, eval_dataset=sets.dev, compute_metrics=replaced)  # fact: only best are used yes
Trainer(model, plain, eval_dataset=sets.dev, compute_metrics=all_scores)  # fact: only best are used unknown
Trainer(model, plain, eval_dataset=sets.dev, compute_metrics=ids)  # fact: only best are used unknown
tagger = AutoModelForTokenClassification.from_pretrained("gpt2")
Trainer(tagger, plain, eval_dataset=sets.dev, compute_metrics=best)  # fact: are of a vocabulary unknown
Trainer(sets.model, plain, eval_dataset=sets.dev, compute_metrics=best)  # fact: are of a vocabulary unknown
Trainer(model, settings, eval_dataset=sets.dev, compute_metrics=best)  # fact: are kept unknown
Trainer(model, TrainingArguments("out", eval_accumulation_steps=2), eval_dataset=sets.dev, compute_metrics=best)  # fact: are kept no
Trainer(model, TrainingArguments("out", prediction_loss_only=False), eval_dataset=sets.dev, compute_metrics=best)  # fact: are kept yes
Trainer(model, plain, eval_dataset=sets.dev.select(range(9)), compute_metrics=best)  # fact: are kept unknown
Trainer(model, plain, eval_dataset=sets.dev, compute_metrics=best, preprocess_logits_for_metrics=ids)  # fact: are kept no
Trainer(model, plain, eval_dataset=sets.dev, compute_metrics=sets.metrics)  # fact: untold are kept
