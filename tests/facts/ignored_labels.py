"""Whether ids that are decoded may still be -100."""
import numpy as np
from company import clean
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorForSeq2Seq, DataCollatorWithPadding, Seq2SeqTrainer, Trainer

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def compute_metrics(p):
    preds, labels = p
    if isinstance(preds, tuple):
        preds = preds[0]
    tokenizer.batch_decode(preds)  # fact: hold ignored yes
    tokenizer.batch_decode(labels)  # fact: hold ignored yes
    tokenizer.decode(labels[0])  # fact: hold ignored yes
    tokenizer.decode(labels[labels != -100])  # fact: hold ignored unknown
    tokenizer.batch_decode(np.where(labels != -100, labels, 0))  # fact: untold hold ignored
    for row in labels:
        tokenizer.decode(row)  # fact: hold ignored yes
        chosen = row[unknown]
        tokenizer.decode(chosen)  # fact: hold ignored unknown

def overwrites(p):
    p.label_ids[p.label_ids == -100] = 0
    tokenizer.batch_decode(p.label_ids)  # fact: hold ignored unknown

def fills(p):
    np.putmask(p.predictions, p.predictions == -100, 0)
    tokenizer.batch_decode(p.predictions)  # fact: hold ignored unknown

def hands_on(p):
    clean(p.label_ids)
    tokenizer.batch_decode(p.label_ids)  # fact: hold ignored unknown

def takes_either(p):
    either = p.label_ids if unknown else p.predictions
    tokenizer.batch_decode(either)  # fact: hold ignored unknown

def of_two(preds, labels):
    tokenizer.batch_decode(labels)  # fact: untold hold ignored
    tokenizer.batch_decode(preds[0])  # fact: untold hold ignored

Trainer(compute_metrics=overwrites), Trainer(compute_metrics=fills), Trainer(compute_metrics=hands_on)
trainer = Seq2SeqTrainer(compute_metrics=takes_either)
tokenizer.batch_decode(trainer.predict(unknown).label_ids)  # fact: hold ignored yes
tokenizer.batch_decode(trainer.predict(unknown)[1])  # fact: hold ignored yes
tokenizer.batch_decode(trainer.predict(unknown).metrics)  # fact: untold hold ignored
for batch in DataLoader(unknown, collate_fn=DataCollatorForSeq2Seq(tokenizer)):
    tokenizer.batch_decode(batch["labels"])  # fact: hold ignored unknown
    batch["labels"][batch["labels"] == -100] = 0
for other in DataLoader(unknown, collate_fn=DataCollatorWithPadding(tokenizer)):
    tokenizer.batch_decode(other["labels"])  # fact: untold hold ignored
